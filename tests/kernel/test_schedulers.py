"""Every scheduler of the kernel, predicted connection by connection by its reference model.

Random series of changes and connections; LVSLAB_LONG=1 makes them long (more than 10,000 connections in all),
LVSLAB_SEED chooses other ones. A series that fails names its seed; the figures are printed at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import pytest

from lvslab.errors import KernelFault
from lvslab.ipvs.model import Service
from lvslab.ipvs.schedulers import MODELS, RANDOM, Counting
from lvslab.ipvs.schedulers.twos import distribution
from lvslab.kernels.start import RunningKernel
from lvslab.topology.model import Protocol
from tests.kernel.scheduler_rig import SOURCES, Rig, Twin, rig_in
from tests.kernel.scheduler_series import Series, total

pytestmark = pytest.mark.kernel

LONG = bool(os.environ.get("LVSLAB_LONG"))
SERIES, CONNECTIONS = (5, 200) if LONG else (2, 100)
FIRST_SEED = int(os.environ.get("LVSLAB_SEED", "1"))
UNLIKELY = 60.0
"""Chi-squared with three degrees of freedom is greater once in 10^12 times."""


@pytest.fixture
def rig(kernel: RunningKernel) -> Iterator[Rig]:
    with rig_in(kernel) as made:
        yield made


@pytest.fixture(scope="module")
def finished(kernel: RunningKernel, request: pytest.FixtureRequest) -> Iterator[list[Series]]:
    """Collects the series, and says at the end what they came to."""
    done: list[Series] = []
    yield done
    plugins = request.config.pluginmanager
    capture, reporter = plugins.get_plugin("capturemanager"), plugins.get_plugin("terminalreporter")
    assert capture is not None
    assert reporter is not None
    with capture.global_and_fixture_disabled():
        reporter.write_line(f"\nschedulers on {kernel.release}, seeds from {FIRST_SEED}: {total(done)}")


@pytest.mark.parametrize("scheduler", MODELS["kernel"])
def test_every_connection_goes_where_the_model_says(rig: Rig, scheduler: str, finished: list[Series]) -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + SERIES):
        series = Series(rig, scheduler, seed)
        series.run(CONNECTIONS)
        finished.append(series)
        assert not series.twin.mismatches, f"{series}: {series.twin.mismatches[0]}"


@pytest.mark.parametrize("scheduler", MODELS["papers"])
def test_the_papers_reading_is_found_wrong(rig: Rig, scheduler: str) -> None:
    series = Series(rig, scheduler, FIRST_SEED, reading="papers")
    series.run(100)
    assert series.twin.mismatches


def test_a_model_whose_sets_do_not_age_is_found_wrong(rig: Rig) -> None:
    series = Series(rig, "lblcr", FIRST_SEED, ageing=False)
    series.run(1000)
    assert series.twin.mismatches


@pytest.mark.parametrize(("lower", "relieved_at"), [(0, 2), (1, 0)], ids=["three quarters", "a lower threshold"])
@pytest.mark.parametrize("protocol", [Protocol.TCP, Protocol.UDP])
def test_a_server_is_overloaded_until_its_connections_fall_below_the_lower_threshold(
    rig: Rig, lower: int, relieved_at: int, protocol: Protocol
) -> None:
    twin = Twin(rig, "rr", protocol=protocol)
    twin.add("rs1", upper=4, lower=lower)
    twin.open_many(6, protocol)
    assert twin.refused == 2
    while len(twin.held) > relieved_at:
        twin.open_many(1, protocol)
        assert len(twin.held) <= 4
        twin.expire(twin.held[:1])
    twin.open_many(1, protocol)
    assert (len(twin.held), twin.refused) == (relieved_at + 1, 2 + 4 - relieved_at)
    assert not twin.mismatches


@pytest.mark.parametrize("scheduler", ["lc", "wlc", "sed", "nq", "ovf"])
def test_an_association_counts_as_active_only_while_it_is_established(rig: Rig, scheduler: str) -> None:
    """`compare` holds the model's counts, active and inactive, against the kernel's."""
    twin = Twin(rig, scheduler, protocol=Protocol.SCTP)
    for name, weight in (("rs1", 1), ("rs2", 2), ("rs3", 3)):
        twin.add(name, weight)
    twin.open_many(12, Protocol.SCTP)
    for held in twin.held[::2]:
        twin.close(held)
    twin.open_many(12, Protocol.SCTP)
    assert not twin.mismatches
    assert {held.counted.active for held in twin.held} == {True, False}


MISTAKEN = {"sed": "wlc", "nq": "sed", "fo": "lc", "ovf": "fo", "mh": "sh"}
"""Schedulers the papers do not have, and another one to take each for."""


@pytest.mark.parametrize("scheduler", MISTAKEN)
def test_another_schedulers_model_is_found_wrong(rig: Rig, scheduler: str) -> None:
    twin = Twin(rig, MISTAKEN[scheduler])
    rig.table.set_service(Service(twin.key, scheduler))
    for name, weight in (("rs1", 4), ("rs2", 3), ("rs3", 2), ("rs4", 1)):
        twin.add(name, weight)
    for number in range(40):
        twin.open(SOURCES[twin.family] + number, rig.new_port(), twin.vips[0], Protocol.TCP)
    twin.compare()
    assert twin.mismatches


def test_an_active_connection_weighs_as_much_as_the_release_says(rig: Rig) -> None:
    def right(counting: Counting) -> bool:
        twin = Twin(rig, "lc", counting=counting)
        twin.add("rs1")
        twin.open_many(256, Protocol.UDP)
        twin.edit("rs1", weight=0)
        twin.add("rs2")
        twin.open_many(1, Protocol.TCP)
        twin.edit("rs1")
        # 256 inactive against 1 active: where that is equal the newest, rs2, is chosen.
        twin.open_many(1, Protocol.TCP)
        return not twin.mismatches

    assert [counting for counting in Counting if right(counting)] == [rig.counting]


@pytest.mark.parametrize(
    ("before", "after"), [((3, 3), (4, 1)), ((10, 0), (3, 0))], ids=["a higher one", "a lower one"]
)
def test_another_threshold_acts_as_the_release_says(rig: Rig, before: tuple[int, int], after: tuple[int, int]) -> None:
    def right(counting: Counting) -> bool:
        twin = Twin(rig, "rr", counting=counting)
        twin.add("rs1", upper=before[0], lower=before[1])
        twin.open_many(3, Protocol.UDP)
        twin.edit("rs1", upper=after[0], lower=after[1])
        twin.open_many(1, Protocol.UDP)
        return not twin.mismatches

    assert [counting for counting in Counting if right(counting)] == [rig.counting]


def test_twos_chooses_as_often_as_its_distribution_says(rig: Rig) -> None:
    twin = Twin(rig, "rr")
    for name, weight in (("rs1", 1), ("rs2", 3), ("rs3", 6), ("rs4", 2)):
        twin.add(name, weight)
    twin.open_many(7, Protocol.TCP)
    expected = distribution(twin.model.scheduler.servers, rig.counting)
    assert len(set(expected.values())) == len(expected)
    if not rig.has_scheduler(RANDOM):
        with pytest.raises(KernelFault, match="lacks that scheduler"):
            twin.become_random(RANDOM)
        return
    twin.become_random(RANDOM)
    seen = twin.datagrams(2000)
    assert chi_squared(seen, {name: float(share) for name, share in expected.items()}) < UNLIKELY
    assert chi_squared(seen, dict.fromkeys(expected, 1 / len(expected))) > UNLIKELY


def chi_squared(seen: Mapping[str, int], shares: Mapping[str, float]) -> float:
    """Return Pearson's statistic: how far counts are from the shares expected of them."""
    total_seen = sum(seen.values())
    return sum((seen[name] - share * total_seen) ** 2 / (share * total_seen) for name, share in shares.items())
