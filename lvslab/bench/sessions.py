"""Users' sessions as they come to a web cluster: bursty, drawn from a seed. Pure.

Sessions begin as a Poisson process. How many requests one has follows a Pareto distribution, whose few long sessions
make up much of the whole (Crovella and Bestavros, "Self-similarity in World Wide Web traffic", 1996, found exponents
of 1.0 to 1.5 for what such bursts are made of); between two requests a user thinks, for exponentially long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Habits:
    """How users behave, and how many there are. Times are in seconds."""

    sessions: int
    period_s: float
    """In which sessions begin."""
    exponent: float = 1.5
    most_requests: int = 300
    """Of one session."""
    thinking_s: float = 10.0
    """On average."""
    resolvers: int = 3
    """Users are behind one of so many, each alike likely."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a session; the first of a session asks for the name."""

    at_s: float
    session: int
    resolver: int
    first: bool


def draw_requests(habits: Habits, seed: int) -> tuple[Request, ...]:
    """Return all requests in the order of time; the same seed gives the same."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    requests = [request for session in range(habits.sessions) for request in _session(session, habits, random)]
    return tuple(sorted(requests, key=lambda request: (request.at_s, request.session)))


def _session(number: int, habits: Habits, random: Random) -> Iterator[Request]:
    # As many points as there are, each anywhere: a Poisson process, given their number.
    at_s = random.uniform(0, habits.period_s)
    resolver = random.randrange(habits.resolvers)
    for position in range(min(habits.most_requests, int(random.paretovariate(habits.exponent)))):
        yield Request(at_s, number, resolver, first=position == 0)
        at_s += random.expovariate(1 / habits.thinking_s)


def ticks(requests: Sequence[Request], tick_s: float) -> Iterator[tuple[float, Sequence[Request]]]:
    """Yield the requests of each stretch of `tick_s` that has any, with the moment of its end."""
    number, begun = 0, 0
    for position, request in enumerate(requests):
        if int(request.at_s / tick_s) != number:
            if position > begun:
                yield (number + 1) * tick_s, requests[begun:position]
            number, begun = int(request.at_s / tick_s), position
    if begun < len(requests):
        yield (number + 1) * tick_s, requests[begun:]
