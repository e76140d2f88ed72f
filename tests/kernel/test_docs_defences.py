"""Somebody at two terminals plays what docs/defences.md shows, and sees what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.running_support import this_user
from tests.kernel.test_running_walk import HOST, Student, steps

pytestmark = pytest.mark.kernel

DOCUMENT = Path(__file__).parents[2] / "docs" / "defences.md"


def test_the_document_can_be_played(kernel_kind: str) -> None:
    world = this_user(kernel_kind)
    student = Student(world)
    try:
        for step in steps(DOCUMENT.read_text()):
            student.play(step)
    finally:
        for terminal in student.terminals.values():
            terminal.program.close(force=True)
        left = world.run("down", "--all").stdout
    assert left == ""


def test_all_of_it_is_played() -> None:
    """A step that is not recognised would not be."""
    played = steps(DOCUMENT.read_text())
    typed = [(step.where, step.typed.split()[1 if step.where == HOST else 0]) for step in played if step.typed]
    assert [word for where, word in typed if where == HOST] == ["up", "shell", "shell", "down"] * 2
    assert [word for where, word in typed if where == "client"].count("flood") == 3
    assert len(typed) == DOCUMENT.read_text().count("\n$ ./run ") + sum(
        DOCUMENT.read_text().count(f"\n{node}# ") for node in ("client", "director")
    )
