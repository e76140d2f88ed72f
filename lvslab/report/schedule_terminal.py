"""Choices of a scheduler, step by step: whom it took, why, and what it compared."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lvslab.ipvs.model import AddressKey
from lvslab.ipvs.schedulers import Candidate, Choice
from lvslab.topology.model import VirtualService

REFUSED = "refused"
TAKEN = "taken"


def sequence(choices: Sequence[Choice]) -> list[str]:
    """Return the names of those chosen."""
    return [REFUSED if choice.server is None else choice.server.name for choice in choices]


def render_choices(title: str, choices: Sequence[Choice]) -> RenderableType:
    """Return a title, the sequence in one line, and a row for each choice."""
    names = sequence(choices)
    short = all(len(name) == 1 for name in names)
    return Group(Text(title), Text(("" if short else " ").join(names), style="bold"), _table(choices))


def render_services(found: Sequence[tuple[VirtualService, Sequence[Choice]]]) -> RenderableType:
    """Return the choices of a topology's services, one after another."""
    return Group(*(render_choices(_title(service), choices) for service, choices in found))


def _title(service: VirtualService) -> str:
    key = AddressKey(service.protocol, service.vip, service.port)
    return f"{key} at {service.director}, {service.scheduler}"


def _table(choices: Sequence[Choice]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("#", justify="right")
    table.add_column("to")
    table.add_column("because", overflow="fold")
    table.add_column("before", overflow="fold")
    table.add_column("looked at", overflow="fold")
    for number, (name, choice) in enumerate(zip(sequence(choices), choices, strict=True), 1):
        state = ", ".join(f"{key} {value}" for key, value in choice.state) or "-"
        looked_at = ", ".join(map(_candidate, choice.candidates))
        table.add_row(str(number), *map(Text, (name, choice.reason, state, looked_at)))
    return table


def _candidate(candidate: Candidate) -> str:
    """Return a server with its cost by weight where that was compared, else with what spoke against it."""
    server = candidate.server
    if candidate.cost is not None:
        return f"{server.name} {candidate.cost}/{server.weight}"
    return server.name if candidate.verdict == TAKEN else f"{server.name} ({candidate.verdict})"
