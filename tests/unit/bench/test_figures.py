"""Figures of capture, director and verdict made of readings, without a kernel."""

from __future__ import annotations

import pytest

from lvslab.bench.capture import Reading, best_rate
from lvslab.bench.director import topology
from lvslab.bench.result import medians_of
from lvslab.bench.verdict import PHASES, split
from lvslab.topology.model import Method


def reading(packets: int, recorded: int) -> Reading:
    return Reading(packets, packets * 4, seconds=2.0, recorded=recorded, recording_s=0.1)


def test_the_best_rate_is_the_highest_without_loss() -> None:
    assert best_rate([reading(1000, 4000), reading(2000, 8000), reading(4000, 15999)]) == 1000
    assert best_rate([reading(1000, 3999)]) == 0


def test_cost_and_share_are_of_the_frames_recorded() -> None:
    lossy = reading(1000, 2000)
    assert lossy.frame_s == pytest.approx(0.1 / 2000)
    assert lossy.share == 0.5


def test_what_no_phase_took_is_the_start() -> None:
    phases = dict.fromkeys(PHASES, 0.1)
    seconds = split(1.0, phases)
    assert seconds["start"] == pytest.approx(1.0 - 0.1 * len(PHASES))
    assert seconds["whole"] == 1.0


@pytest.mark.parametrize("method", ["nat", "dr", "tun"])
def test_each_method_has_the_same_way_through_the_director(method: str) -> None:
    model = topology(method)
    (service,) = model.services
    assert {destination.method for destination in service.destinations} == {Method(method)}
    assert [(node.name, [each.network for each in node.interfaces]) for node in model.nodes] == [
        ("client", ["outside"]),
        ("director", ["outside", "inside"]),
        ("rs1", ["inside"]),
    ]


@pytest.mark.parametrize(("rounds", "said"), [(1, "One round"), (2, "Medians of 2 rounds"), (9, "Medians of 9 rounds")])
def test_of_one_round_there_are_no_medians(rounds: int, said: str) -> None:
    assert medians_of(rounds) == said
