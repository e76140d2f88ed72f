"""A lab's text in one language: Markdown with Jinja2, cut into an introduction and a part for each step.

A step's part begins at a line ``<!-- step: ID -->``, what is said when the lab is done at ``<!-- closing -->``.
``<!-- proof: ... -->`` after a sentence names what proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.labs.model import Instructions
from lvslab.topology.rendering import render
from lvslab.topology.source import read_source

_STEP = re.compile(r"^<!-- step: *(?P<id>[a-z0-9-]+) *-->$")
_CLOSING = "<!-- closing -->"
_PROOF = re.compile(r"<!-- proof: *(?P<proofs>[^>]+?) *-->")
_COMMENT = re.compile(r"[ \n]?<!--.*?-->", re.DOTALL)
_WIDE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
_LINE_IN_CHINESE = re.compile(
    rf"(?<={_WIDE})\n {{0,3}}(?=\*{{0,2}}{_WIDE})|(?<=[\u3001\u3002\uff00-\uffef])\n {{0,3}}(?=\*{{0,2}}[A-Za-z`(])"
)
"""A line's end that Markdown would show as a space where Chinese has none."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that something proves."""

    text: str
    proofs: tuple[str, ...]
    line: int


def read_instructions(path: Path, context: Mapping[str, object]) -> Instructions:
    """Return the text at `path` with `context` filled in. Raises BadInput, naming the line."""
    source = read_source(path, "the lab's instructions")
    rendered = render(source, str(path), context, names="names that this lab's texts may use")
    intro: list[str] = []
    steps: dict[str, list[str]] = {}
    closing: list[str] = []
    part = intro
    for number, line in enumerate(rendered.text.splitlines(), start=1):
        if line.strip() == _CLOSING:
            part = closing
            continue
        mark = _STEP.match(line.strip())
        if mark is None:
            part.append(line)
            continue
        if mark["id"] in steps:
            raise BadInput("a step comes twice", where=f"{path}:{rendered.source_line(number)}", found=mark["id"])
        part = steps[mark["id"]] = []
    parts = {name: _without_marks(lines) for name, lines in steps.items()}
    return Instructions(_without_marks(intro), parts, _without_marks(closing))


def _without_marks(lines: list[str]) -> str:
    return _LINE_IN_CHINESE.sub("", _COMMENT.sub("", "\n".join(lines))).strip() + "\n"


def claims(text: str) -> Iterator[Claim]:
    """Yield the sentences of a text that name their proof."""
    for match in _PROOF.finditer(text):
        proofs = tuple(proof.strip() for proof in match["proofs"].split(","))
        before = text[: match.start()].rstrip()
        paragraph = before[before.rfind("\n\n") + 1 :]
        yield Claim(_last_sentence(paragraph), proofs, text.count("\n", 0, len(before)) + 1)


def _last_sentence(text: str) -> str:
    """Return what stands between the last full stop before the end and the end, on one line."""
    without = " ".join(_COMMENT.sub("", text).split())
    pieces = re.split(r"(?<=[.!?。！？]) +|(?<=[。！？])", without)
    return next((piece.strip() for piece in reversed(pieces) if piece.strip()), without)
