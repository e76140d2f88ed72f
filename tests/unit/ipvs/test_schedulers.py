"""Reference models against a real kernel's recorded choices, and against the papers' examples."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lvslab.errors import BadInput
from lvslab.ipvs.schedulers import MODELS, Flow, Reading, Scheduler, Server, scheduler
from tests.unit.ipvs.support import FIXTURES

FLOW = Flow(ip_address("198.51.100.1"), 40000, ip_address("192.0.2.100"))


def servers(**weights: int) -> list[Server]:
    return [Server(name, weight) for name, weight in weights.items()]


def run(model: Scheduler, connections: int) -> str:
    """Return the names picked, one letter each; `-` is a refusal."""
    picks = [model.pick(FLOW) for _ in range(connections)]
    return "".join("-" if picked is None else picked.name for picked in picks)


@pytest.mark.parametrize("trace", sorted(FIXTURES.glob("choices-*.txt")), ids=lambda path: path.stem)
def test_the_kernels_recorded_choices_are_predicted(trace: str) -> None:
    path = FIXTURES / trace
    model = scheduler(path.stem.split("-")[1], [])
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        operation, *words = line.split()
        if operation == "pick":
            picked = model.pick(FLOW)
            assert (picked.name if picked else "-") == words[0], f"line {number}"
        else:
            replay(model, operation, words)


def replay(model: Scheduler, operation: str, words: list[str]) -> None:
    if operation == "start":
        model.start()
    elif operation == "add":
        model.add(Server(words[0], int(words[1])))
    elif operation == "delete":
        model.delete(words[0])
    elif operation == "edit":
        model.edit(words[0], int(words[1]))
    else:
        assert operation in ("overloaded", "relieved")
        model.observe(Server(words[0], overloaded=operation == "overloaded"))


@pytest.mark.parametrize(
    ("name", "reading", "weights", "picks"),
    [
        ("rr", "papers", {"A": 1, "B": 1, "C": 1}, "ABCABC"),
        ("rr", "kernel", {"A": 1, "B": 1, "C": 1}, "CBACBA"),
        ("rr", "papers", {"A": 1, "B": 0, "C": 1}, "ACAC"),
        ("rr", "kernel", {"A": 1, "B": 0, "C": 1}, "CACA"),
        ("wrr", "papers", {"A": 4, "B": 3, "C": 2}, "AABABCABCAABABCABC"),
        ("wrr", "kernel", {"C": 2, "B": 3, "A": 4}, "ABCAABABCABCAABABCABC"),
        ("wrr", "papers", {"A": 2, "B": 0, "C": 2}, "ACACAC"),
        ("wrr", "kernel", {"A": 4, "B": 2}, "BAABAABA"),
        *((name, reading, {"A": 0, "B": 0}, "---") for name in ("rr", "wrr") for reading in ("papers", "kernel")),
        *((name, reading, {}, "--") for name in ("rr", "wrr") for reading in ("papers", "kernel")),
    ],
)
def test_known_sequences(name: str, reading: Reading, weights: dict[str, int], picks: str) -> None:
    assert run(scheduler(name, servers(**weights), reading), len(picks)) == picks


def test_the_papers_wrr_run_appears_in_the_kernel_when_the_full_service_is_edited_to_wrr() -> None:
    model = scheduler("wrr", servers(C=2, B=3, A=4))
    model.start()
    assert run(model, 9) == "AABABCABC"


@pytest.mark.parametrize("reading", MODELS)
@pytest.mark.parametrize("name", ["rr", "wrr"])
def test_a_deleted_server_gets_nothing_and_an_added_one_its_share(name: str, reading: Reading) -> None:
    model = scheduler(name, servers(A=1, B=1, C=1), reading)
    run(model, 2)
    model.delete("B")
    assert set(run(model, 4)) == {"A", "C"}
    model.add(Server("D"))
    assert set(run(model, 6)) == {"A", "C", "D"}
    with pytest.raises(KeyError):
        model.delete("B")


def test_kernel_rr_goes_on_from_where_it_was_after_a_change() -> None:
    model = scheduler("rr", servers(A=1, B=1, C=1))
    assert run(model, 2) == "CB"
    model.add(Server("D"))
    model.edit("C", 5)
    assert run(model, 4) == "ADCB"
    model.delete("B")
    assert run(model, 3) == "ADC"


def test_kernel_wrr_begins_again_at_the_newest_after_a_change() -> None:
    model = scheduler("wrr", servers(A=1, B=1, C=1))
    assert run(model, 2) == "CB"
    model.edit("A", 1)
    assert run(model, 3) == "CBA"


@pytest.mark.parametrize("name", ["rr", "wrr"])
def test_the_kernel_passes_over_the_overloaded_and_refuses_when_all_are(name: str) -> None:
    model = scheduler(name, servers(A=1, B=1))
    model.observe(Server("B", overloaded=True))
    assert run(model, 3) == "AAA"
    model.observe(Server("A", overloaded=True))
    assert run(model, 3) == "---"
    model.observe(Server("B"))
    assert run(model, 2) == "BB"


def test_observing_a_server_leaves_its_weight_and_the_cycle_alone() -> None:
    model = scheduler("wrr", servers(A=1, B=3))
    twin = scheduler("wrr", servers(A=1, B=3))
    assert run(model, 3) == run(twin, 3)
    model.observe(Server("B", weight=99, active=7, inactive=8))
    assert model.servers[model.position("B")] == Server("B", 3, 7, 8)
    assert run(model, 20) == run(twin, 20)


@pytest.mark.parametrize("reading", MODELS)
@given(weights=st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_wrr_gives_each_server_its_weights_share_of_every_full_cycle(reading: Reading, weights: list[int]) -> None:
    model = scheduler("wrr", [Server(str(number), weight) for number, weight in enumerate(weights)], reading)
    model.start()
    cycle = sum(weights) // (gcd(*weights) or 1)
    picks = [model.pick(FLOW) for _ in range(2 * cycle)]
    for turn in (picks[:cycle], picks[cycle:]):
        names = [picked.name for picked in turn if picked]
        assert [names.count(str(number)) * gcd(*weights) for number in range(len(weights))] == weights


@pytest.mark.parametrize("reading", MODELS)
@given(weights=st.lists(st.integers(1, 9), min_size=1, max_size=6), equal=st.integers(1, 9))
def test_equal_weights_make_wrr_a_round_robin(reading: Reading, weights: list[int], equal: int) -> None:
    same = [Server(str(number), equal) for number in range(len(weights))]
    wrr, rr = scheduler("wrr", same, reading), scheduler("rr", same, reading)
    for _ in range(3 * len(weights)):
        assert wrr.pick(FLOW) == rr.pick(FLOW)


def test_a_scheduler_without_a_model_is_named_with_those_that_have_one() -> None:
    with pytest.raises(BadInput, match=r"expected one of rr, wrr, lc, .*, mh, found lcr"):
        scheduler("lcr", [])
    with pytest.raises(BadInput, match=r"the papers do not describe .* expected one of rr, .*, sh, found sed"):
        scheduler("sed", [], "papers")
    with pytest.raises(BadInput, match="at random"):
        scheduler("twos", [])


def test_a_changed_weight_takes_effect_in_the_papers_reading_too() -> None:
    model = scheduler("wrr", servers(A=1, B=1), "papers")
    model.edit("B", 0)
    assert run(model, 3) == "AAA"
    assert replace(model.servers[1], weight=1) == Server("B")
