"""What each scheduler's model compares, remembers and says of it; the kernel's runs prove the rest (tests/kernel)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from ipaddress import ip_address

import pytest

from lvslab.ipvs.model import Flag
from lvslab.ipvs.schedulers import MODELS, Choice, Counting, Flow, Reading, Server, scheduler
from lvslab.ipvs.schedulers.hashing import fold, hash_32, papers_hash
from lvslab.ipvs.schedulers.lblc import KernelLocality
from lvslab.ipvs.schedulers.lblcr import KernelReplicatedLocality
from lvslab.ipvs.schedulers.load import Load
from lvslab.ipvs.schedulers.locality import DAY_S, Cache
from lvslab.ipvs.schedulers.service import ServiceModel
from lvslab.ipvs.schedulers.siphash import hsiphash
from lvslab.ipvs.schedulers.twos import distribution

CLIENT, VIP = ip_address("198.51.100.1"), ip_address("192.0.2.100")
FLOW = Flow(CLIENT, 40000, VIP)
MINUTE_S = 60.0


def busy(name: str, weight: int = 1, active: int = 0, inactive: int = 0, *, overloaded: bool = False) -> Server:
    number = ord(name) - ord("A")
    return Server(name, weight, active, inactive, overloaded, ip_address(f"192.0.2.{11 + number}"), 80)


def chosen(choice: Choice) -> str:
    return choice.server.name if choice.server else "-"


CASES: dict[str, tuple[str, Reading, list[Server], str]] = {
    # Ties go to the newest in the kernel, to the first in the papers.
    "lc-tie-kernel": ("lc", "kernel", [busy("A"), busy("B")], "B"),
    "lc-tie-papers": ("lc", "papers", [busy("A"), busy("B")], "A"),
    "lc-ignores-weight": ("lc", "kernel", [busy("A", 100, 2), busy("B", 1, 1)], "B"),
    "lc-active-is-dear-kernel": ("lc", "kernel", [busy("A", 1, 0, 200), busy("B", 1, 1)], "A"),
    "lc-all-count-alike-papers": ("lc", "papers", [busy("A", 1, 0, 200), busy("B", 1, 1)], "B"),
    "lc-overloaded-kernel": ("lc", "kernel", [busy("A", 1, 5), busy("B", overloaded=True)], "A"),
    "lc-overloaded-papers": ("lc", "papers", [busy("A", 1, 5), busy("B", overloaded=True)], "B"),
    "wlc-by-weight": ("wlc", "kernel", [busy("A", 3, 2), busy("B", 1, 1)], "A"),
    "wlc-by-weight-papers": ("wlc", "papers", [busy("B", 1, 1), busy("A", 3, 2)], "A"),
    "wlc-weight-0": ("wlc", "kernel", [busy("A", 0), busy("B", 1, 9)], "B"),
    "sed-counts-the-new-one": ("sed", "kernel", [busy("A", 3, 1), busy("B", 1)], "A"),
    "sed-inactive-is-free": ("sed", "kernel", [busy("A", 2, 0, 500), busy("B", 1)], "A"),
    "nq-takes-the-idle": ("nq", "kernel", [busy("A", 1), busy("B", 100, 1)], "A"),
    "nq-takes-the-newest-idle": ("nq", "kernel", [busy("A", 100), busy("B", 1)], "B"),
    "nq-none-idle": ("nq", "kernel", [busy("A", 9, 2), busy("B", 1, 1)], "A"),
    "nq-idle-weight-0": ("nq", "kernel", [busy("A", 1, 1), busy("B", 0)], "A"),
    "fo-heaviest": ("fo", "kernel", [busy("A", 2, 99), busy("B", 1)], "A"),
    "fo-next": ("fo", "kernel", [busy("A", 2, overloaded=True), busy("B", 1)], "B"),
    "ovf-up-to-its-weight": ("ovf", "kernel", [busy("A", 2, 2), busy("B", 1)], "A"),
    "ovf-flows-over": ("ovf", "kernel", [busy("A", 2, 3), busy("B", 1)], "B"),
    "ovf-all-full": ("ovf", "kernel", [busy("A", 2, 3), busy("B", 1, 2)], "-"),
    "dh-overloaded-papers": ("dh", "papers", [busy("A", 1, 2, 1)], "-"),
    "dh-at-the-limit-papers": ("dh", "papers", [busy("A", 1, 2)], "A"),
    "dh-overloaded-kernel": ("dh", "kernel", [busy("A", 9, overloaded=True)], "-"),
    "dh-weight-0": ("dh", "kernel", [busy("A", 0)], "-"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_choice(case: str) -> None:
    name, reading, servers, server = CASES[case]
    assert chosen(scheduler(name, servers, reading).choose(FLOW)) == server


@pytest.mark.parametrize(("reading", "name"), [(reading, name) for reading in MODELS for name in MODELS[reading]])
def test_with_nobody_there_everybody_refuses_and_says_why(reading: Reading, name: str) -> None:
    for servers in ([], [busy("A", 0), busy("B", 0)]):
        choice = scheduler(name, servers, reading).choose(FLOW)
        assert choice.server is None
        assert choice.reason


@pytest.mark.parametrize(("reading", "name"), [(reading, name) for reading in MODELS for name in MODELS[reading]])
def test_every_choice_says_what_was_looked_at_and_who_took_it(reading: Reading, name: str) -> None:
    model = scheduler(name, [busy("A", 3), busy("B", 0), busy("C", 1)], reading)
    for _ in range(5):
        choice = model.choose(FLOW)
        takers = [candidate.server for candidate in choice.candidates if candidate.verdict == "taken"]
        assert takers == ([choice.server] if choice.server else [])
        assert choice.reason


def test_the_overhead_of_an_active_connection_depends_on_the_release() -> None:
    servers = [busy("A", inactive=256), busy("B", active=1)]
    assert chosen(scheduler("lc", servers, counting=Counting.SEPARATE).choose(FLOW)) == "B"
    assert chosen(scheduler("lc", servers, counting=Counting.TOTAL).choose(FLOW)) == "A"


@pytest.mark.parametrize(
    ("release", "counting"),
    [
        ("6.1.176", Counting.SEPARATE),
        ("6.1.182-1-amd64", Counting.SEPARATE),
        ("6.1.183", Counting.TOTAL),
        ("6.12.103", Counting.SEPARATE),
        ("6.12.117", Counting.TOTAL),
        ("6.8.0-31-generic", Counting.SEPARATE),
        ("7.2", Counting.TOTAL),
        ("unknown", Counting.TOTAL),
    ],
)
def test_releases_and_how_they_count(release: str, counting: Counting) -> None:
    assert Counting.of_release(release) is counting


def test_hashes_of_addresses() -> None:
    assert fold(ip_address("192.0.2.1")) == 0xC0000201
    assert fold(ip_address("2001:db8::1")) == 0x20010DB8 ^ 1
    assert hash_32(1, 8) == 0x61
    assert papers_hash(1, 8) == 2654435761 & 0xFF == 0xB1


def test_the_papers_hash_sees_only_the_last_byte_of_an_address() -> None:
    near = {papers_hash(fold(ip_address(f"10.{number}.0.7")), 8) for number in range(256)}
    assert len(near) == 1
    assert len({hash_32(fold(ip_address(f"10.{number}.0.7")), 8) for number in range(256)}) > 100


@pytest.mark.parametrize(
    ("word", "key", "result"),
    # By the macros of include/linux/siphash.h and lib/siphash.c (hsiphash_1u32, 64 bits), compiled as C.
    [
        (0x0, 2654435761, 0x1D5A77C2),
        (0x1, 2654435761, 0x16EC66B2),
        (0xC0000201, 2654435761, 0x92889C88),
        (0xFFFFFFFF, 2654446892, 0xF75A0F5D),
    ],
)
def test_hsiphash(word: int, key: int, result: int) -> None:
    assert hsiphash(word, key) == result


def test_sh_gives_buckets_by_weight() -> None:
    model = scheduler("sh", [busy("A", 3), busy("B", 1)])
    clients = (ip_address("10.0.0.0") + number * 7919 for number in range(4000))
    got = Counter(chosen(model.choose(replace(FLOW, source=client))) for client in clients)
    assert got["A"] == pytest.approx(3000, rel=0.05)


@pytest.mark.parametrize(
    ("name", "port", "fallback"), [("sh", Flag.SH_PORT, Flag.SH_FALLBACK), ("mh", Flag.MH_PORT, Flag.MH_FALLBACK)]
)
def test_flags_of_the_source_hashes(name: str, port: Flag, fallback: Flag) -> None:
    servers = [busy("A"), busy("B"), busy("C")]
    flows = [replace(FLOW, source_port=number) for number in range(1000, 1100)]
    plain, with_port = scheduler(name, servers), scheduler(name, servers, flags=frozenset({port}))
    assert len({chosen(plain.choose(flow)) for flow in flows}) == 1
    assert {chosen(with_port.choose(flow)) for flow in flows} == {"A", "B", "C"}
    home = chosen(plain.choose(FLOW))
    plain.edit(home, 0)
    assert chosen(plain.choose(FLOW)) == "-"
    plain.flags = frozenset({fallback})
    assert chosen(plain.choose(FLOW)) in {"A", "B", "C"} - {home}


def test_mh_moves_few_clients_and_keeps_the_places_of_a_drained_server() -> None:
    model = scheduler("mh", [busy("A"), busy("B"), busy("C"), busy("D")])
    flows = [replace(FLOW, source=ip_address("10.0.0.0") + number) for number in range(500)]
    before = [chosen(model.choose(flow)) for flow in flows]
    model.edit("A", 0)
    assert [chosen(model.choose(flow)) for flow in flows] == ["-" if name == "A" else name for name in before]
    model.delete("A")
    after = [chosen(model.choose(flow)) for flow in flows]
    stayed = sum(new == old for new, old in zip(after, before, strict=True) if old != "A")
    assert stayed > 0.9 * sum(name != "A" for name in before)


def test_lblc_stays_until_its_server_is_overloaded_and_another_is_idle() -> None:
    model = scheduler("lblc", [busy("A"), busy("B", 2)])
    assert chosen(model.choose(FLOW)) == "B"
    model.observe(busy("B", active=2))
    assert chosen(model.choose(FLOW)) == "B"
    model.observe(busy("B", active=3))
    choice = model.choose(FLOW)
    assert (chosen(choice), choice.state) == ("A", (("remembered", "B"),))
    assert model.choose(FLOW).state == (("remembered", "A"),)


def test_lblc_gives_a_remembered_server_more_than_its_threshold() -> None:
    model = scheduler("lblc", [busy("A")])
    model.choose(FLOW)
    model.observe(busy("A", overloaded=True))
    assert chosen(model.choose(FLOW)) == "A"
    assert chosen(model.choose(replace(FLOW, destination=ip_address("192.0.2.101")))) == "-"


def test_lblcr_widens_its_set_and_shrinks_it_after_a_time() -> None:
    model = scheduler("lblcr", [busy("A"), busy("B")])
    assert isinstance(model, KernelReplicatedLocality)
    assert chosen(model.choose(FLOW)) == "B"
    model.observe(busy("B", active=2))
    assert chosen(model.choose(FLOW)) == "A"
    assert model.choose(FLOW).state == (("set", "A B"),)
    for at_s, members in ((DAY_S / 2, "A B"), (DAY_S, "A B"), (DAY_S + 1, "A B"), (DAY_S + 2, "A")):
        assert model.choose(replace(FLOW, at_s=at_s)).state == (("set", members),)


def test_lblcr_drops_a_deleted_member_if_that_was_the_most_loaded() -> None:
    model = scheduler("lblcr", [busy("A"), busy("B")])
    model.choose(FLOW)
    model.observe(busy("B", active=2))
    model.choose(FLOW)
    model.delete("B")
    model.choose(replace(FLOW, at_s=DAY_S / 2))
    model.choose(replace(FLOW, at_s=DAY_S + 1))
    assert model.choose(replace(FLOW, at_s=DAY_S + 2)).state == (("set", "A"),)


@pytest.mark.parametrize(
    ("unused_s", "remembered"), [(DAY_S, True), (DAY_S + 28 * MINUTE_S, True), (DAY_S + 31 * MINUTE_S, False)]
)
def test_lblc_forgets_when_it_looks_half_an_hour_at_most_after_a_day(unused_s: float, remembered: bool) -> None:
    model = scheduler("lblc", [busy("A")])
    assert isinstance(model, KernelLocality)
    model.choose(replace(FLOW, at_s=MINUTE_S))
    model.add(busy("B"))
    assert (chosen(model.choose(replace(FLOW, at_s=MINUTE_S + unused_s))) == "A") is remembered


def test_papers_forget_after_a_day_to_the_second() -> None:
    model = scheduler("lblc", [busy("A"), busy("B")], "papers")
    model.choose(FLOW)
    model.observe(busy("A", active=1))
    assert chosen(model.choose(replace(FLOW, at_s=DAY_S - 1))) == "A"
    assert chosen(model.choose(replace(FLOW, at_s=2 * DAY_S))) == "B"


def test_a_crowded_cache_forgets_after_six_minutes_and_a_full_one_takes_nothing_more() -> None:
    cache: Cache[str] = Cache()
    first = ip_address("10.0.0.0")
    for number in range(25_000):
        cache.remember(first + number, "A", 0.0)
    assert len(cache) == 24_576
    cache.use(VIP, 5 * MINUTE_S)
    assert len(cache) == 24_576
    cache.use(VIP, 6 * MINUTE_S)
    assert len(cache) < 24_576 - 8000
    remaining = len(cache)
    cache.use(VIP, 30 * MINUTE_S)
    assert 16_384 - 100 < len(cache) <= min(16_384, remaining)


def full(counting: Counting, upper: int, lower: int = 0, connections: int = 0) -> Load:
    load = Load(counting)
    load.limit(upper, lower)
    for _ in range(connections):
        load.open(active=False)
    return load


@pytest.mark.parametrize("counting", Counting)
@pytest.mark.parametrize(("upper", "lower", "cleared_at"), [(4, 0, 2), (8, 0, 5), (4, 1, 0), (4, 4, 3), (1, 0, 0)])
def test_the_mark_is_set_at_the_upper_threshold_and_cleared_below_the_lower(
    counting: Counting, upper: int, lower: int, cleared_at: int
) -> None:
    load = full(counting, upper, lower, upper - 1)
    assert not load.overloaded
    load.open(active=True)
    assert load.overloaded
    load.turn(active=False)
    while load.overloaded:
        load.expire(active=False)
    assert load.total == cleared_at


@pytest.mark.parametrize(
    ("before", "connections", "after", "separate", "total"),
    [
        ((3, 0), 3, (4, 1), False, True),
        ((10, 0), 5, (3, 0), False, True),
        ((3, 0), 3, (0, 0), False, False),
        ((3, 0), 3, (3, 0), True, True),
        ((3, 0), 3, (9, 8), False, False),
    ],
)
def test_editing_thresholds(
    before: tuple[int, int], connections: int, after: tuple[int, int], separate: bool, total: bool
) -> None:
    for counting, overloaded in ((Counting.SEPARATE, separate), (Counting.TOTAL, total)):
        load = full(counting, *before, connections)
        load.limit(*after)
        assert load.overloaded is overloaded


def test_a_service_counts_what_it_gives_and_a_server_that_comes_back_still_has_it() -> None:
    model = ServiceModel("lc")
    model.add(busy("A"))
    _, first = model.open(FLOW)
    assert first is not None
    model.delete("A")
    model.close(first)
    model.add(busy("A"))
    assert (model.loads["A"].active, model.scheduler.servers[0].inactive) == (0, 1)
    model.expire(first)
    assert model.scheduler.servers[0].connections == 0


def test_editing_a_service_to_the_same_scheduler_changes_flags_alone() -> None:
    model = ServiceModel("rr")
    for name in "ABC":
        model.add(busy(name))
    assert [chosen(model.open(FLOW)[0]) for _ in range(2)] == ["C", "B"]
    model.edit_service("rr")
    assert chosen(model.open(FLOW)[0]) == "A"
    model.edit_service("wrr")
    model.edit_service("rr")
    assert chosen(model.open(FLOW)[0]) == "C"


def test_twos_draws_the_first_server_once_more_than_its_weight() -> None:
    shares = distribution([busy("A", 1), busy("B", 1)])
    assert shares == {"A": Fraction(2, 3), "B": Fraction(1, 3)}


def test_twos_prefers_the_less_loaded_of_the_two_drawn() -> None:
    shares = distribution([busy("A", 1, 9), busy("B", 1), busy("C", 0), busy("D", overloaded=True)])
    assert shares == {"A": Fraction(4, 9), "B": Fraction(5, 9)}
    assert distribution([]) == {}
