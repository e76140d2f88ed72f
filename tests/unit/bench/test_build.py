"""Ratios of building, without a kernel."""

from __future__ import annotations

import struct

import pytest

from lvslab.bench.build import ratios, totals
from lvslab.bench.contestants import Timing
from lvslab.bench.guest.floor import veth_request
from lvslab.bench.pairs import ratio
from lvslab.bench.result import Ratio


def timings(*seconds: float) -> list[Timing]:
    return [Timing(each * 0.75, each * 0.25) for each in seconds]


def test_a_ratio_is_of_values_of_the_same_round() -> None:
    readings = {"one": [1.0, 10.0, 3.0], "other": [2.0, 40.0, 3.0]}
    assert ratio(readings, "one", "other") == 0.5
    with pytest.raises(ValueError, match="argument 2"):
        ratio({"one": [1.0], "other": [2.0, 3.0]}, "one", "other")


def test_each_contestant_is_compared_at_the_largest_size_that_has_it() -> None:
    found = {
        4: {"netns": timings(1), "ip_batch": timings(4), "mininet": timings(20), "floor": timings(0.8)},
        64: {"netns": timings(6), "ip_batch": timings(10), "floor": timings(4)},
    }
    by_key = {each.key: each for each in ratios(found)}
    assert {key: each.value for key, each in by_key.items()} == {
        "netns_over_ip_batch": pytest.approx(0.6),
        "netns_over_mininet": pytest.approx(0.05),
        "netns_over_floor": pytest.approx(1.5),
    }
    assert [by_key[key].met for key in by_key] == [False, True, True]


def test_cost_per_node_counts_client_router_and_director_too() -> None:
    found = {16: {"netns": timings(19)}, 256: {"netns": timings(259 * 1.5)}}
    (flat,) = ratios(found)
    assert flat.key == "node_many_over_few"
    assert flat.value == pytest.approx(1.5)
    assert flat.met is False


def test_a_time_is_for_building_and_removing() -> None:
    assert totals({"netns": [Timing(1, 2), Timing(3, 4)]}) == {"netns": [3, 7]}


@pytest.mark.parametrize(
    ("ratio", "aim", "met"),
    [
        (Ratio("a", "", 1.0, at_most=1.0), "≤ 1", True),
        (Ratio("a", "", 1.1, at_most=1.0), "≤ 1", False),
        (Ratio("a", "", 9.6, at_least=9.5), "≥ 9.5", True),
        (Ratio("a", "", 9.4, at_least=9.5), "≥ 9.5", False),
        (Ratio("a", "", 9.4), "", None),
    ],
)
def test_an_aim_is_met_or_missed(ratio: Ratio, aim: str, met: bool | None) -> None:
    assert (ratio.aim, ratio.met) == (aim, met)


def test_the_floors_request_is_as_long_as_it_says() -> None:
    request = veth_request("port1", 7)
    assert struct.unpack_from("=I", request)[0] == len(request)
