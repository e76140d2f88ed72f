"""Choosing the heaviest server: what fo and ovf have in common. The first of equals wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lvslab.ipvs.schedulers.model import NOBODY, Candidate, Choice, Server


def heaviest(servers: Sequence[Server], refusal: Callable[[Server], str]) -> Choice:
    """Return the first server of the highest weight among those that nothing speaks against."""
    possible = [server for server in servers if not refusal(server)]
    best = max(possible, key=lambda server: server.weight, default=None)
    candidates = tuple(
        Candidate(server, refusal(server) or ("taken" if server is best else "not heavier")) for server in servers
    )
    return Choice(best, NOBODY if best is None else "the highest weight", candidates=candidates)
