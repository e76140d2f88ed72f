"""How unevenly round-robin DNS loads servers, against IPVS that schedules each connection.

The papers: resolvers keep an answer for its TTL, so that all users behind one go to the same server; and even with a
TTL of 0 the busiest server gets more than 30 % over the mean, because sessions are bursty (lvs-primer, section 2).
The same users' sessions are played three times, as real look-ups and connections: by round-robin DNS with TTL 0 and
with a TTL that resolvers keep, both through caching resolvers (dnsmasq), and by IPVS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import groupby
from pathlib import Path
from statistics import median

from lvslab.bench.result import Benchmark, Chart, Column, Curve, Part, Ratio, Value
from lvslab.bench.sessions import Habits, Request, draw_requests, ticks
from lvslab.errors import KernelFault
from lvslab.kernels.choose import UP_TIMEOUT_S, kernel_with_virtual_time
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, Phase, open_kernel, quiet, running_lab
from lvslab.plan.steps import StartResolver
from lvslab.topology import load_topology
from lvslab.topology.model import Role, Topology

TITLE = "How evenly servers are loaded: round-robin DNS and IPVS, for the same users"
HOUR_S = 3600.0
ABOUT_TICK_S = 20.0
WINDOWS = 12
"""Stretches of the hour that are also looked at one by one: five minutes each."""
REAL_TIME_SCALE = 1 / 60
"""In real time the hour takes a minute, and TTL and thinking are as much shorter."""
CLAIMED = 1.3
OTHER_DRAWS = 200
IPVS, NO_TTL, CACHED = "ipvs", "dns_ttl_0", "dns_cached"


@dataclass(frozen=True, slots=True)
class Settings:
    """Users and servers. `ttl_s` is that of the hour: in real time it is divided by 60."""

    kernel: str | None = None
    virtual_time: bool = True
    servers: int = 8
    sessions: int = 400
    resolvers: int = 3
    ttl_s: int = 60
    seed: int = 1

    @property
    def scale(self) -> float:
        return 1.0 if self.virtual_time else REAL_TIME_SCALE

    @property
    def tick_s(self) -> float:
        """What happens in so much of the hour is played together.

        A TTL ends amid one: users never come at the moment when it ends, and so find the same answers in each run.
        """
        ticks = round(self.ttl_s / ABOUT_TICK_S - 0.5) + 0.5
        return self.ttl_s / ticks if self.ttl_s >= ABOUT_TICK_S else ABOUT_TICK_S

    @property
    def habits(self) -> Habits:
        return Habits(self.sessions, HOUR_S, resolvers=self.resolvers)


Served = tuple[tuple[int, str], ...]
"""Of each request: the number of its window, and the server that answered."""


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Play the users' hour in three ways. Raises CannotRun without a kernel, KernelFault if requests fail."""
    requests = draw_requests(settings.habits, settings.seed)
    with open_kernel(_kernel(settings), name="bench", virtual_time=settings.virtual_time) as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        served = {way: play(kernel, way, requests, settings, phase) for way in (IPVS, NO_TTL, CACHED)}
    chosen: dict[str, Value] = {
        "servers": settings.servers,
        "sessions": settings.sessions,
        "requests": len(requests),
        "resolvers": settings.resolvers,
        "ttl_s": settings.ttl_s,
        "seed": settings.seed,
    }
    return Benchmark("skew", TITLE, (_part(kernel, settings, served, len(requests)),), chosen, tuple(_notes(settings)))


def _kernel(settings: Settings) -> str | None:
    return kernel_with_virtual_time(settings.kernel) if settings.virtual_time else settings.kernel


def _notes(settings: Settings) -> Iterator[str]:
    if not settings.virtual_time:
        yield "In real time the hour was played in a minute, with TTL and thinking 60 times shorter."


def play(kernel: RunningKernel, way: str, requests: Sequence[Request], settings: Settings, phase: Phase) -> Served:
    topology = _topology(way, settings)
    resolvers = () if way == IPVS else tuple(_resolvers(topology))
    with phase(_name(way, settings)), running_lab(kernel, topology, further=resolvers) as lab:
        return tuple(_served(lab, _chooser(lab, way), requests, settings))


def _topology(way: str, settings: Settings) -> Topology:
    params: dict[str, object] = {"real_servers": settings.servers, "resolvers": settings.resolvers}
    if way != IPVS:
        params["ttl"] = 0 if way == NO_TTL else max(1, round(settings.ttl_s * settings.scale))
    name = "skew-ipvs" if way == IPVS else "skew-dns"
    with resources.as_file(resources.files(__package__) / "topologies" / f"{name}.yaml.j2") as path:
        return load_topology(Path(path), params=params)


def _resolvers(topology: Topology) -> Iterator[StartResolver]:
    (service,) = topology.name_services
    upstream = str(topology.node(service.server).own_addresses[0])
    for node in topology.with_role(Role.RESOLVER):
        yield StartResolver(node.name, replace(service, resolver=node.name), upstream)


Chooser = Callable[[int, int], Sequence[str]]
"""Looks the service up for so many new sessions of the users of one resolver; returns an address for each."""


def _chooser(lab: Lab, way: str) -> Chooser:
    if way == IPVS:
        vip = str(lab.topology.services[0].vip)
        return lambda _resolver, sessions: [vip] * sessions
    name = lab.topology.name_services[0].name
    resolvers = [str(node.own_addresses[0]) for node in lab.topology.with_role(Role.RESOLVER)]

    def look_up(resolver: int, sessions: int) -> Sequence[str]:
        return lab.node(_users(resolver)).look_up(name, resolvers[resolver], times=sessions)

    return look_up


def _users(resolver: int) -> str:
    return f"users{resolver + 1}"


def _served(lab: Lab, choose: Chooser, requests: Sequence[Request], settings: Settings) -> Iterator[tuple[int, str]]:
    addresses: dict[int, str] = {}
    begun = lab.now()
    for end_s, of_tick in ticks(requests, settings.tick_s):
        lab.sleep(max(0.0, begun + end_s * settings.scale - lab.now()))
        window = min(WINDOWS - 1, int((end_s - settings.tick_s) / HOUR_S * WINDOWS))
        for resolver, group in groupby(sorted(of_tick, key=_of_resolver), key=_of_resolver):
            of_users = list(group)
            new = [request.session for request in of_users if request.first]
            if new:
                addresses |= dict(zip(new, choose(resolver, len(new)), strict=True))
            outcomes = lab.node(_users(resolver)).get_each([addresses[request.session] for request in of_users])
            failed = [outcome for outcome in outcomes if not outcome.ok]
            if failed:
                raise KernelFault("a request failed", where=lab.topology.name, found=failed[0].status)
            yield from ((window, outcome.server) for outcome in outcomes)


def _of_resolver(request: Request) -> int:
    return request.resolver


def over_mean(counts: Sequence[int]) -> float:
    """Return the largest of the counts over their mean."""
    return max(counts) * len(counts) / sum(counts)


def per_server(served: Served, servers: int, window: int | None = None) -> list[int]:
    """Return how many requests each server answered, busiest first, those without any included."""
    counted = Counter(server for number, server in served if window in (None, number))
    counts = sorted(counted.values(), reverse=True)
    return counts + [0] * (servers - len(counts))


def dealt_in_turn(requests: Sequence[Request], servers: int) -> list[int]:
    """Return what servers would get if sessions were dealt to them exactly in turn; no kernel has part in it."""
    counts = [0] * servers
    places: dict[int, int] = {}
    for request in requests:
        counts[places.setdefault(request.session, len(places) % servers)] += 1
    return counts


def _name(way: str, settings: Settings) -> str:
    return {
        IPVS: "IPVS rr",
        NO_TTL: "round-robin DNS, TTL 0",
        CACHED: f"round-robin DNS, TTL {settings.ttl_s} s",
    }[way]


def _part(kernel: RunningKernel, settings: Settings, served: Mapping[str, Served], total: int) -> Part:
    rows: list[tuple[Value, ...]] = []
    curves, skews, in_windows = [], {}, {}
    for way, requests in served.items():
        counts = per_server(requests, settings.servers)
        windows = [per_server(requests, settings.servers, window) for window in range(WINDOWS)]
        skews[way] = over_mean(counts)
        in_windows[way] = median(over_mean(window) for window in windows if any(window))
        mean = total / settings.servers
        rows.append((_name(way, settings), counts[0], mean, counts[-1], skews[way], in_windows[way]))
        points = tuple((rank, count / mean) for rank, count in enumerate(counts, 1))
        curves.append(Curve(_name(way, settings), points))
    title = f"{settings.sessions} sessions with {total} requests, {settings.servers} servers, an hour"
    return Part(
        "skew",
        title,
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=kernel.virtual_time,
        columns=(
            Column("way", "by way of"),
            Column("most", "busiest"),
            Column("mean", "mean", 1),
            Column("least", "idlest"),
            Column("most_over_mean", "busiest/mean", 2),
            Column("most_over_mean_5_min", "in 5 min", 2),
        ),
        rows=tuple(rows),
        facts=tuple(_facts(settings, skews, in_windows)),
        ratios=tuple(
            Ratio(f"{way}_most_over_mean", f"busiest server / mean in an hour: {_name(way, settings)}", skew)
            for way, skew in skews.items()
        ),
        chart=Chart(title, "servers, busiest first", "requests over the mean", tuple(curves)),
        values={f"{way}_most_over_mean": skew for way, skew in skews.items()},
    )


def _facts(settings: Settings, skews: Mapping[str, float], in_windows: Mapping[str, float]) -> Iterator[str]:
    for way, skew in skews.items():
        yield (
            f"{_name(way, settings)}: the busiest server got {100 * (skew - 1):.0f} % more than the mean over the "
            f"hour, and {100 * (in_windows[way] - 1):.0f} % more in five minutes (median)."
        )
    said = "more than 30 % over the mean even with TTL 0"
    yield f"The papers say {said}: {'so it was' if skews[NO_TTL] > CLAIMED else 'not in this hour'}."
    beyond = sum(
        over_mean(dealt_in_turn(draw_requests(settings.habits, seed), settings.servers)) > CLAIMED
        for seed in range(settings.seed + 1, settings.seed + 1 + OTHER_DRAWS)
    )
    yield (
        f"It is a matter of how many sessions a server gets: computed for {OTHER_DRAWS} other draws of these users, "
        f"sessions dealt exactly in turn, {100 * beyond / OTHER_DRAWS:.0f} % go beyond 30 %."
    )
