"""Programs of :mod:`lvslab.bench.guest`, run inside a kernel but in none of its nodes."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from importlib import resources
from typing import Any

from lvslab.errors import KernelFault
from lvslab.kernels.start import RunningKernel
from lvslab.plan.steps import Plan
from lvslab.sandbox.sandbox import Finished, Sandbox

OUTSIDE = ""
"""The namespace that the agent itself is in."""
LONGEST_S = 300.0
_LAST_WORDS = 400


def run_program(
    kernel: RunningKernel, name: str, *words: str, python: str = sys.executable, node: str = OUTSIDE
) -> dict[str, Any]:
    """Run a program there to its end, and return the JSON of its last line. Raises KernelFault."""
    path = str(resources.files("lvslab.bench.guest") / f"{name}.py")
    done = run(kernel, [python, "-B", path, *words], node)
    return dict(json.loads(done.output.splitlines()[-1]))


def run_text(kernel: RunningKernel, script: str) -> None:
    """Run shell text there, of any length. Raises KernelFault if it fails."""
    path = kernel.folder.share / f"script-{secrets.token_hex(4)}"
    path.write_text(script)
    try:
        run(kernel, ["sh", str(path)])
    finally:
        path.unlink()


def run(kernel: RunningKernel, argv: Sequence[str], node: str = OUTSIDE) -> Finished:
    done = Sandbox(kernel, Plan("", ())).run(node, argv, timeout_s=LONGEST_S)
    if done.status:
        raise KernelFault(
            f"{argv[0]} failed in a benchmark", found=f"status {done.status}: {done.output[-_LAST_WORDS:].strip()}"
        )
    return done
