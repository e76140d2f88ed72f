"""The agent's bytecode, left beside its source: a guest can only read there, and would compile it at every boot."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def leave_bytecode(package: Path = PACKAGE) -> None:
    """Compile what of the agent has changed; not where Python is told to leave no bytecode, or where none can be."""
    if sys.dont_write_bytecode:
        return
    from compileall import compile_dir, compile_file

    compile_file(package / "__init__.py", quiet=2)
    compile_dir(package / "agent", maxlevels=0, quiet=2)
