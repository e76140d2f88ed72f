"""A student at several terminals plays what the README shows, command by command, and sees what it shows."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from lvslab.kernels.images import find_image
from tests.kernel.running_support import CTRL_C, WORLDS, Terminal, World

pytestmark = pytest.mark.kernel

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"<!-- walk(?:: (?P<where>[a-z]+))?.*? -->\n```console\n(?P<text>.*?)```\n", re.DOTALL)
PROMPT = re.compile(r"(?P<node>[a-z0-9]*)[$#] (?P<words>.*)")
HOST = ""
COMMAND = "./run "


@dataclass(frozen=True)
class Step:
    """What is typed, where, and what then appears there, line by line; nothing may be typed, only seen."""

    where: str
    typed: str
    seen: tuple[str, ...]


def steps(text: str) -> list[Step]:
    """Return the walk's steps; `where` is a node's name, or empty for the host."""
    found: list[Step] = []
    for block in BLOCK.finditer(text):
        where = block["where"] if block["where"] != "played" else HOST
        for line in block["text"].splitlines():
            prompt = PROMPT.fullmatch(line)
            if prompt:
                where = prompt["node"]
                found.append(Step(where, prompt["words"], ()))
            elif line == "^C" or not found or found[-1].where != where:
                found.append(Step(where or HOST, line, ()) if line == "^C" else Step(where or HOST, "", (line,)))
            else:
                found[-1] = Step(where, found[-1].typed, (*found[-1].seen, line))
    return found


def shape(line: str) -> re.Pattern[str]:
    """Return what a line looks like: numbers after its first word vary, and so may the width of columns."""
    words = [
        re.sub(r"\d+", r"\\d+", re.escape(word)) if number else re.escape(word)
        for number, word in enumerate(line.split())
    ]
    return re.compile(r"\s+".join(words))


class Student:
    """Plays steps: on the host, and in a terminal for each node."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.terminals: dict[str, Terminal] = {}
        self._at_prompt: dict[str, bool] = {}

    def play(self, step: Step) -> None:
        if step.where != HOST:
            self._play_in_node(step)
            return
        words = step.typed.removeprefix(COMMAND).split()
        if words[0] == "shell":
            self.terminals[words[1]] = self._world.open_terminal(*words)
            return
        kernel = ("--kernel", self._world.kernel) if words[0] == "up" else ()
        done = self._world.run(*words, *kernel)
        assert done.returncode == 0, done.stdout + done.stderr
        expect_lines(done, [line.replace(" uml ", f" {self._world.kernel} ") for line in step.seen])

    def _play_in_node(self, step: Step) -> None:
        terminal = self.terminals[step.where]
        if step.typed == "^C":
            terminal.press(CTRL_C)
        elif step.typed:
            terminal.see(f"{step.where}# ")
            terminal.type(step.typed)
        for line in step.seen:
            terminal.program.expect(shape(line))
        if step.typed == "exit":
            assert terminal.status() == 0


def expect_lines(done: subprocess.CompletedProcess[str], lines: Sequence[str]) -> None:
    """See that a command printed lines of these shapes, in this order."""
    rest = done.stdout
    for line in lines:
        found = shape(line).search(rest)
        assert found, f"{line!r} is not in what came of {done.args}: {done.stdout}"
        rest = rest[found.end() :]


@pytest.mark.parametrize("place", WORLDS)
def test_the_readmes_walk(place: str) -> None:
    if find_image() is None:
        pytest.skip("User-Mode Linux is not installed")
    with WORLDS[place]() as world:
        student = Student(world)
        try:
            for step in steps(README.read_text()):
                student.play(step)
        finally:
            for terminal in student.terminals.values():
                terminal.program.close(force=True)
            left = world.run("down", "--all").stdout
        assert left == ""
        assert "no lab is up" in world.run("ps").stdout


def test_the_walk_is_all_there() -> None:
    """A step that is not recognised would not be played."""
    walk = steps(README.read_text())
    typed = [(step.where, step.typed.split()[1 if step.where == HOST else 0]) for step in walk if step.typed]
    assert typed == [
        ("", "up"),
        ("", "shell"),
        *[("director", "ipvsadm")] * 5,
        ("director", "tcpdump"),
        ("", "shell"),
        ("client", "for"),
        ("client", "exit"),
        ("director", "^C"),
        ("director", "exit"),
        ("", "verify"),
        ("", "down"),
    ]
    shown = [step for step, following in pairwise(walk) if following.where == "director" and not following.typed]
    assert shown == [walk[10]]


@pytest.fixture(scope="module", params=["uml", "native, in a guest"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with WORLDS[request.param]() as found:
        up = found.run("up", "dr", "--kernel", found.kernel)
        assert up.returncode == 0, up.stdout + up.stderr
        yield found
        assert found.run("down", "dr").returncode == 0


def test_two_nodes_have_names_and_files_of_their_own(world: World) -> None:
    for node in ("client", "rs2"):
        done = world.run("exec", "--lab", "dr", node, "--", "sh", "-c", "hostname; getent hosts vip rs2")
        assert done.stdout.split() == [node, "198.18.0.10", "vip", "198.18.0.12", "rs2"], done.stderr
