"""What docs/import.md shows is what the commands print. ``UPDATE_GOLDEN=1 pytest`` writes it there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "import.md"
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n```\n(?P<text>.*?)```\n", re.DOTALL)
OUTPUT = re.compile(r"(?P<before><!-- output: (?P<words>.*?) -->\n```\n)(?P<text>.*?)```\n", re.DOTALL)
COMMAND = Path(sys.executable).with_name("lvslab")


def run(words: str, folder: Path) -> str:
    """Return what a command prints, standard output first."""
    argv = [str(COMMAND) if word == "./run" else word for word in words.split()]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for found in FILE.finditer(DOCUMENT.read_text()):
        (tmp_path / found["name"]).write_text(found["text"])
    return tmp_path


def test_the_document_shows_what_the_commands_print(folder: Path) -> None:
    text = DOCUMENT.read_text()
    printed = {found["words"]: run(found["words"], folder) for found in OUTPUT.finditer(text)}
    assert len(printed) == 3
    if os.environ.get("UPDATE_GOLDEN"):
        DOCUMENT.write_text(OUTPUT.sub(lambda found: f"{found['before']}{printed[found['words']]}```\n", text))
    assert {found["words"]: found["text"] for found in OUTPUT.finditer(DOCUMENT.read_text())} == printed
