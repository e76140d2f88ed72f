"""docs/papers.md, made of the claims: one table for each part of the papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.papers.claims import Claim, Command, Section

HEAD = """# What the papers say, and what proves it

Each row can be pointed at a topology, a command and a test. The claims are in our words; I to IV are the parts of
Wensong Zhang's series on the Linux Virtual Server. What has no proof here says so. Commands are those of `lvslab`;
after → stand the expectations at which one fails, as it should. Topologies with a `.yaml` are in `tests/topologies/`,
those with `.yaml.j2` in `lvslab/bench/topologies/`.
Tests are below `tests/`, one for each row at least; `pytest tests/…` runs them.

This page is made of `tests/papers/claims.yaml`, by `UPDATE_GOLDEN=1 pytest tests/papers`, which also tries that all
that is named here exists, and that the commands do what is said.
"""
COLUMNS = ("the papers say", "topology", "command", "test", "today")


def document(sections: Sequence[Section]) -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(line for section in sections for line in _section(section))])


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.section}"
    yield ""
    yield f"{section.papers}."
    yield ""
    yield _row(COLUMNS)
    yield _row(["---"] * len(COLUMNS))
    yield from (_row(_cells(claim)) for claim in section.claims)
    yield ""


def _cells(claim: Claim) -> list[str]:
    return [
        claim.claim,
        ", ".join(_code(name) for name in claim.topologies),
        "<br>".join(_command(command) for command in claim.commands),
        "<br>".join(_code(name.removeprefix("tests/")) for name in claim.tests),
        " ".join([*([claim.differs] if claim.differs else []), *([f"**Open:** {claim.open}"] if claim.open else [])]),
    ]


def _command(command: Command) -> str:
    return _code(command.run.replace("|", "\\|")) + (f" → {', '.join(command.fails)}" if command.fails else "")


def _code(text: str) -> str:
    return f"`{text}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
