"""Somebody follows docs/first-topology.md from top to bottom, and sees what it shows.

``UPDATE_GOLDEN=1 pytest tests/kernel/test_first_topology.py`` writes the present outputs into it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel.support import COMMAND_TIMEOUT_S
from tests.kernel.test_readme import shape

pytestmark = pytest.mark.kernel

DOCUMENT = Path(__file__).parents[2] / "docs" / "first-topology.md"
STEP = re.compile(r"<!-- (?P<kind>file|output): (?P<words>.*?) -->\n```(?:yaml)?\n(?P<text>.*?)```\n", re.DOTALL)
COMMAND = Path(sys.executable).with_name("lvslab")


def run(words: str, folder: Path) -> str:
    """Return what a command prints, standard output first, 80 columns wide."""
    argv = [str(COMMAND) if word == "./run" else word for word in words.split()]
    done = subprocess.run(
        argv,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_TIMEOUT_S,
    )
    assert done.returncode in (0, 1, 2), done.stderr
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    printed: list[tuple[str, str]] = []
    for step in STEP.finditer(DOCUMENT.read_text()):
        if step["kind"] == "file":
            (tmp_path / step["words"]).write_text(step["text"])
        else:
            printed.append((step["words"], run(step["words"], tmp_path)))
    assert [words.split()[1] for words, _ in printed] == [
        *("new", "graph", "verify", "walk", "predict", "lint", "verify", "verify"),
    ]
    if os.environ.get("UPDATE_GOLDEN"):
        texts = dict(printed)
        DOCUMENT.write_text(STEP.sub(lambda step: replaced(step, texts), DOCUMENT.read_text()))
    shown = [(step["words"], shape(step["text"])) for step in STEP.finditer(DOCUMENT.read_text())]
    assert [each for each in shown if each[0].startswith("./run")] == [(words, shape(text)) for words, text in printed]


def replaced(step: re.Match[str], texts: dict[str, str]) -> str:
    """Return a step with what its command prints now."""
    if step["kind"] == "file":
        return step[0]
    return f"<!-- output: {step['words']} -->\n```\n{texts[step['words']]}```\n"
