"""What docs/mininet.md shows is what happens: commands print it, and Mininet's command line shows it.

``UPDATE_GOLDEN=1 pytest`` writes the present outputs there.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import pytest

from tests.kernel.running_support import Terminal, this_user
from tests.kernel.test_readme import OUTPUT, replaced, run, shape

pytestmark = pytest.mark.kernel

DOCUMENT = Path(__file__).parents[2] / "docs" / "mininet.md"
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n```\n(?P<text>.*?)```\n", re.DOTALL)
CONSOLE = re.compile(r"<!-- console -->\n```\n(?P<text>.*?)```\n", re.DOTALL)
IMPORT = re.compile(r"^    \./run (?P<words>import .*)$", re.MULTILINE)
PROMPT = "mininet> "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the document shows, and the topology that it has made of one, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for found in FILE.finditer(DOCUMENT.read_text()):
        (tmp_path / found["name"]).write_text(found["text"])
    (command,) = IMPORT.finditer(DOCUMENT.read_text())
    assert run(f"{command['words']} -o campus.yaml") == "\n"
    return tmp_path


def test_the_document_shows_what_the_commands_print(folder: Path) -> None:
    shown = [found["words"] for found in OUTPUT.finditer(DOCUMENT.read_text())]
    assert [words.split()[0] for words in shown] == ["verify", "import", "verify"]
    for words in shown:
        printed = run(words)
        if os.environ.get("UPDATE_GOLDEN"):
            DOCUMENT.write_text(OUTPUT.sub(partial(replaced, words, printed), DOCUMENT.read_text()))
        stored = {found["words"]: found["text"] for found in OUTPUT.finditer(DOCUMENT.read_text())}
        assert shape(stored[words]) == shape(printed)


def test_the_command_line_can_be_played(kernel_kind: str) -> None:
    found = CONSOLE.search(DOCUMENT.read_text())
    assert found is not None
    world = this_user(kernel_kind)
    terminal: Terminal | None = None
    printed = ""
    try:
        for line in found["text"].splitlines():
            if line == "./run mininet":
                terminal = world.open_terminal("mininet")
            elif line.startswith("./run "):
                done = world.run(*line.split()[1:])
                printed = done.stdout + done.stderr
            elif line.startswith(PROMPT) and terminal is not None:
                terminal.see(PROMPT)
                terminal.type(line.removeprefix(PROMPT))
                if line == f"{PROMPT}exit":
                    assert terminal.status() == 0
                    terminal = None
            elif terminal is not None:
                terminal.see(line)
            else:
                assert line in printed
    finally:
        if terminal is not None:
            terminal.program.close(force=True)
        left = world.run("down", "--all").stdout
    assert left == ""
