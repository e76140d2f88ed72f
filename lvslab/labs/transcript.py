"""What a student types, line by line, as in the lab's texts; written down for solutions, mistakes and set-up.

``NODE# COMMAND`` is typed in a shell on NODE (``rs*#``: on each of them), ``$ lvslab …`` in the student's own
terminal; lines that begin with ``#`` are comments, and in mistakes ``# fails: CHECK`` and ``# instead of: STEP``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import select
from lvslab.topology.rendering import render
from lvslab.topology.source import read_source

_NODE_LINE = re.compile(r"^(?P<nodes>[a-z][a-z0-9*\[\]-]*)# (?P<command>.+)$")
_HOST_LINE = re.compile(r"^\$ (?:\./run|lvslab) (?P<words>.+)$")
_HEADER = re.compile(r"^# (?P<key>fails|instead of): *(?P<value>\S+)$")


class Typed(StrEnum):
    """What a line is: a command on a node, or one of the student's own."""

    NODE = "node"
    ANSWER = "answer"
    PREDICT = "predict"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Line:
    kind: Typed
    text: str
    """The command, the answer, or the seconds."""
    node: str = ""
    number: int = 0
    source: str = ""

    @property
    def where(self) -> str:
        return f"{self.source}:{self.number}"


@dataclass(frozen=True, slots=True)
class Transcript:
    lines: tuple[Line, ...] = ()
    text: str = ""
    """As written, names filled in."""
    headers: Mapping[str, str] | None = None

    def header(self, key: str) -> str | None:
        return (self.headers or {}).get(key)


def read_transcript(path: Path, context: Mapping[str, object], nodes: tuple[str, ...]) -> Transcript:
    """Return a transcript with names filled in. Raises BadInput, naming the line."""
    rendered = render(read_source(path, "the transcript"), str(path), context, names="names that this lab may use")
    lines: list[Line] = []
    headers: dict[str, str] = {}
    for number, text in enumerate(rendered.text.splitlines(), start=1):
        where = f"{path}:{rendered.source_line(number)}"
        header = _HEADER.match(text)
        if header is not None:
            headers[header["key"]] = header["value"]
        elif text.strip() and not text.startswith("#"):
            lines.extend(_lines(text, where, nodes, str(path), rendered.source_line(number)))
    return Transcript(tuple(lines), rendered.text, headers)


def _nodes(pattern: str, nodes: tuple[str, ...], where: str) -> Iterable[str]:
    try:
        return select(pattern, nodes)
    except UnusableError as problem:
        raise BadInput(
            "no such node", where=where, expected=problem.expected, found=problem.found, next_step=problem.next_step
        ) from problem


def _lines(text: str, where: str, nodes: tuple[str, ...], source: str, number: int) -> Iterator[Line]:
    on_node, on_host = _NODE_LINE.match(text), _HOST_LINE.match(text)
    if on_node is not None:
        for node in _nodes(on_node["nodes"], nodes, where):
            yield Line(Typed.NODE, on_node["command"], node, number, source)
        return
    words = shlex.split(on_host["words"]) if on_host is not None else []
    match words:
        case ["lab", "answer", *rest] if rest:
            yield Line(Typed.ANSWER, " ".join(rest), "", number, source)
        case ["lab", "predict", *rest] if rest:
            yield Line(Typed.PREDICT, " ".join(rest), "", number, source)
        case ["wait", seconds] if seconds.isdecimal():
            yield Line(Typed.WAIT, seconds, "", number, source)
        case _:
            raise BadInput(
                "not a line of a transcript",
                where=where,
                expected="NODE# COMMAND, $ lvslab lab answer …, $ lvslab lab predict … or $ lvslab wait SECONDS",
                found=repr(text),
            )
