"""Choices of a scheduler as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lvslab.ipvs.schedulers import Candidate, Choice
from lvslab.topology.model import VirtualService


def steps(choices: Sequence[Choice]) -> list[dict[str, object]]:
    """Return each choice with all that the scheduler knew and compared; a refused connection has no server."""
    return [
        {
            "number": number,
            "server": None if choice.server is None else choice.server.name,
            "reason": choice.reason,
            "state": dict(choice.state),
            "candidates": [_candidate(candidate) for candidate in choice.candidates],
        }
        for number, choice in enumerate(choices, 1)
    ]


def of_services(found: Sequence[tuple[VirtualService, Sequence[Choice]]]) -> list[dict[str, object]]:
    """Return the choices of a topology's services."""
    return [
        {
            "director": service.director,
            "protocol": service.protocol.value,
            "vip": str(service.vip),
            "port": service.port,
            "scheduler": service.scheduler,
            "steps": steps(choices),
        }
        for service, choices in found
    ]


def _candidate(candidate: Candidate) -> dict[str, object]:
    server = candidate.server
    return {
        "server": server.name,
        "weight": server.weight,
        "active": server.active,
        "inactive": server.inactive,
        "overloaded": server.overloaded,
        "cost": candidate.cost,
        "verdict": candidate.verdict,
    }
