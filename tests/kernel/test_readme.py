"""What the README prints is what the commands print, and its Python example runs.

Numbers that differ from run to run (frame numbers, times, kernel release) are compared by their shape.
``UPDATE_GOLDEN=1 pytest tests/kernel/test_readme.py`` writes the present outputs into the README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.kernel.support import lvslab

pytestmark = pytest.mark.kernel

README = Path(__file__).parents[2] / "README.md"
OUTPUT = re.compile(r"<!-- output: \./run (?P<words>.*?) -->\n```\n(?P<text>.*?)```\n", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: .*? -->\n```python\n(?P<code>.*?)```", re.DOTALL)
VARYING = re.compile(r"\d+\.\d+(\.\d+)?( s\b)?|\bframes? +\d[\d, ]*|^ +\d+  |(?<= {3})\d{3,}(?= {3})", re.MULTILINE)

RULER = re.compile("─+")


def shape(text: str) -> str:
    """Return a text with what varies from run to run taken out, and with it blanks and how long rulers are."""
    return "\n".join(" ".join(RULER.sub("─", VARYING.sub("#", line)).split()) for line in text.strip().splitlines())


def outputs() -> list[tuple[str, str]]:
    return [(found["words"], found["text"]) for found in OUTPUT.finditer(README.read_text())]


def replaced(words: str, printed: str, block: re.Match[str]) -> str:
    """Return a block of the README, with new text if it is the output of `words`."""
    return block[0].replace(f"```\n{block['text']}```", f"```\n{printed}```") if block["words"] == words else block[0]


def run(words: str) -> str:
    """Return what a command prints on standard output, 80 columns wide."""
    return "\n".join(line.rstrip() for line in lvslab(*words.split()).stdout.splitlines()) + "\n"


def test_the_readme_shows_outputs() -> None:
    assert [words for words, _ in outputs()] == ["verify", "walk dr", "verify dr --without arp_ignore"]


@pytest.mark.parametrize("words", [words for words, _ in outputs()])
def test_the_readme_prints_what_the_command_prints(words: str) -> None:
    printed = run(words)
    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(OUTPUT.sub(partial(replaced, words, printed), README.read_text()))
    assert shape(dict(outputs())[words]) == shape(printed)


def test_the_python_example_runs(tmp_path: Path) -> None:
    found = EXAMPLE.search(README.read_text())
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-c", found["code"]], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    verdict, servers, request, *table = done.stdout.splitlines()
    assert verdict.startswith("pass {'arp-owner': 'pass', 'dr-request': 'pass'")
    assert servers == "['rs2', 'rs1', 'rs3']"
    assert request == "client > router > director > rs2"
    assert table[0].startswith("IP Virtual Server version")
