"""The exact text of `lvslab plan` and `lvslab plan --shell` for what is shipped; the texts are beside this file.

After a wanted change: ``UPDATE_GOLDEN=1 pytest tests/golden/plans``, then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from lvslab.cli.main import cli
from lvslab.topology import shipped

HERE = Path(__file__).parent
SUFFIXES = {"txt": (), "sh": ("--shell",)}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", shipped())
def test_the_plan_is_this_text(name: str, suffix: str) -> None:
    done = CliRunner().invoke(cli, ["plan", name, *SUFFIXES[suffix]])
    assert done.exit_code == 0, done.output
    golden = HERE / f"{name}.{suffix}"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(done.output, encoding="utf-8")
    assert done.output == golden.read_text(encoding="utf-8")


def test_every_stored_text_is_of_a_shipped_topology() -> None:
    stored = {path.name for path in HERE.iterdir() if path.suffix in (".txt", ".sh")}
    assert stored == {f"{name}.{suffix}" for name in shipped() for suffix in SUFFIXES}
