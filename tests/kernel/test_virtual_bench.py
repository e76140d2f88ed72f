"""Benchmarks in virtual time, where shaping is exact and the processor costs nothing: figures are physics then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import pytest

from lvslab.bench import skew
from lvslab.bench.sessions import Request, draw_requests, ticks
from lvslab.bench.skew import CACHED, IPVS, NO_TTL, Settings, dealt_in_turn, play
from lvslab.bench.throughput import METHODS, Readings, Sweep, measure
from lvslab.kernels.choose import UP_TIMEOUT_S, kernel_with_virtual_time
from lvslab.kernels.start import RunningKernel
from lvslab.lab import open_kernel, quiet

pytestmark = pytest.mark.kernel

CARD_BIT_S = 20_000_000
CARRIED = CARD_BIT_S * 1448 / 1514
"""Bits of answers per second: a full frame of 1,514 bytes carries 1,448."""
SERVERS = 4
EXACT = 0.02
BUFFERS = "4096 32768 32768"
"""Enough to fill two cards, one behind the other, and for all servers together less than a queue holds."""


@pytest.fixture(scope="module")
def virtual() -> Iterator[RunningKernel]:
    with open_kernel(kernel_with_virtual_time(), name="bench", virtual_time=True) as kernel:
        kernel.wait_until_up(UP_TIMEOUT_S)
        yield kernel


def throughput(kernel: RunningKernel, director_rate: str) -> Readings:
    sweep = Sweep((1, SERVERS), director_rate, "20mbit", seconds=1, warm_up_s=1, client_buffers=BUFFERS)
    return measure(kernel, sweep, quiet)


def test_nat_is_held_at_the_directors_card_and_dr_and_tun_grow_with_the_servers(virtual: RunningKernel) -> None:
    readings = throughput(virtual, "20mbit")
    assert set(readings) == {(method, size) for method in METHODS for size in (1, SERVERS)}
    for (method, size), (bit_s,) in readings.items():
        cards = 1 if method == "nat" else size
        assert bit_s == pytest.approx(cards * CARRIED, rel=EXACT), (method, size)


def test_nat_grows_with_the_directors_card(virtual: RunningKernel) -> None:
    (bit_s,) = throughput(virtual, "40mbit")["nat", SERVERS]
    assert bit_s == pytest.approx(2 * CARRIED, rel=EXACT)


HOUR = Settings(servers=4, sessions=40, resolvers=2, ttl_s=3600, seed=7)


def served(kernel: RunningKernel, way: str, settings: Settings = HOUR) -> list[str]:
    requests = draw_requests(settings.habits, settings.seed)
    return [server for _, server in play(kernel, way, requests, settings, quiet)]


def as_played(requests: tuple[Request, ...]) -> list[Request]:
    """Return the requests in the order in which users come within a stretch: those of one resolver together."""
    return list(
        chain.from_iterable(
            sorted(of_tick, key=lambda request: request.resolver) for _, of_tick in ticks(requests, HOUR.tick_s)
        )
    )


def test_ipvs_gives_each_server_as_many_requests(virtual: RunningKernel) -> None:
    counts = Counter(served(virtual, IPVS)).values()
    assert len(counts) == HOUR.servers
    assert max(counts) - min(counts) <= 1


def test_with_ttl_0_sessions_are_dealt_in_turn_whoever_the_users_resolver_is(virtual: RunningKernel) -> None:
    requests = draw_requests(HOUR.habits, HOUR.seed)
    expected = dealt_in_turn(as_played(requests), HOUR.servers)
    assert sorted(Counter(served(virtual, NO_TTL)).values()) == sorted(count for count in expected if count)


def test_while_an_answer_is_cached_all_users_of_a_resolver_go_to_one_server(virtual: RunningKernel) -> None:
    assert len(set(served(virtual, CACHED))) <= HOUR.resolvers < HOUR.servers


def test_an_hour_with_a_ttl_of_a_minute_is_the_same_whenever_it_begins(virtual: RunningKernel) -> None:
    minute = replace(HOUR, ttl_s=60)
    first = served(virtual, CACHED, minute)
    assert len(set(first)) == HOUR.servers
    assert served(virtual, CACHED, minute) == first


def test_the_whole_benchmark_says_what_it_found() -> None:
    benchmark = skew.run(Settings(servers=3, sessions=10, resolvers=1, seed=7))
    (part,) = benchmark.parts
    assert part.virtual_time
    assert [row[0] for row in part.rows] == ["IPVS rr", "round-robin DNS, TTL 0", "round-robin DNS, TTL 60 s"]
