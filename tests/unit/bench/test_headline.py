"""The headline benchmark without a kernel: what it makes of its readings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from lvslab.bench import headline
from lvslab.bench.headline import PAPERS, Settings, run
from lvslab.bench.result import Mark
from lvslab.bench.throughput import METHODS, Readings, Sweep, topology
from lvslab.errors import BadInput
from lvslab.topology.shaping import parse_rate

CARD = 4e6


@dataclass
class Booted:
    """What the benchmark says of the kernel it ran on."""

    virtual_time: bool
    kind: str = "uml"
    release: str = "6.12.0"

    def wait_until_up(self, _timeout_s: float) -> None:
        pass


def flat_at(nat_servers: float, server_bit_s: float, sweep: Sweep) -> Readings:
    """Return readings as of a director whose card carries what so many servers give."""
    return {
        (method, size): tuple(
            server_bit_s * (min(size, nat_servers) if method == "nat" else size) * (1 + noise)
            for noise in (0.0, 0.2, -0.1)[: sweep.rounds]
        )
        for method in METHODS
        for size in sweep.sizes
    }


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def open_kernel(_kind: str | None, *, name: str, virtual_time: bool) -> Iterator[Booted]:
        yield Booted(virtual_time)

    def measure(kernel: Booted, sweep: Sweep, _phase: object) -> Readings:
        return flat_at(15, 6.4e6, sweep) if sweep is PAPERS else flat_at(1, CARD, sweep)

    monkeypatch.setattr(headline, "open_kernel", open_kernel)
    monkeypatch.setattr(headline, "measure", measure)
    monkeypatch.setattr(headline, "kernel_with_virtual_time", lambda _preferred: "uml:6.12")


@pytest.mark.usefixtures("readings")
def test_rows_are_medians_and_ratios_are_of_medians() -> None:
    (part, _) = run(Settings(servers=10)).parts
    assert [row[0] for row in part.rows] == list(range(1, 11))
    assert part.rows[-1] == pytest.approx((10, 4.0, 40.0, 40.0, 10.0))
    assert part.values == pytest.approx({"dr_over_nat": 10, "tun_over_nat": 10})
    assert part.readings["dr-10"] == pytest.approx([40e6, 48e6, 36e6])
    assert not part.virtual_time


@pytest.mark.usefixtures("readings")
def test_the_crossover_is_the_first_size_at_which_dr_is_ahead() -> None:
    own, papers = run(Settings()).parts
    assert "VS/DR is ahead of VS/NAT from 2 servers on." in own.facts
    assert "VS/DR is ahead of VS/NAT from 20 servers on." in papers.facts
    assert [part.chart.marks for part in (own, papers) if part.chart] == [
        (Mark(2, "VS/DR ahead from 2 servers on"),),
        (Mark(20, "VS/DR ahead from 20 servers on"),),
    ]


def test_where_dr_is_never_ahead_nothing_is_marked(readings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headline, "measure", lambda _kernel, sweep, _phase: flat_at(10, CARD, sweep))
    (part,) = run(Settings(servers=10, papers=False)).parts
    assert "VS/DR and VS/NAT serve alike with up to 10 servers." in part.facts
    assert part.chart is not None
    assert part.chart.marks == ()


@pytest.mark.usefixtures("readings")
def test_the_papers_figures_are_in_virtual_time() -> None:
    papers = run(Settings()).parts[1]
    assert papers.virtual_time
    assert papers.values["nat_flat_mbit_s"] == pytest.approx(96)
    assert papers.values["dr_servers_beyond_gigabit"] == 160
    assert "15 servers fill the director's card" in " ".join(papers.facts)


@pytest.mark.usefixtures("readings")
def test_without_virtual_time_the_papers_figures_are_left_out_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(headline, "kernel_with_virtual_time", lambda _preferred: None)
    benchmark = run(Settings())
    assert [part.key for part in benchmark.parts] == ["own_cards"]
    assert "lvslab kernel build" in benchmark.notes[0]
    assert run(Settings(papers=False)).notes == ()


@pytest.mark.usefixtures("readings")
def test_a_bad_rate_is_refused_before_anything_runs() -> None:
    with pytest.raises(BadInput, match="--rate: not a rate: expected for example 100mbit"):
        run(Settings(rate="fast"))


def test_virtual_time_needs_one_round() -> None:
    assert Settings(virtual_time=True).sweep.rounds == 1
    assert Settings().sweep.rounds == 3


@pytest.mark.parametrize("method", METHODS)
def test_the_clusters_cards_are_shaped_and_those_of_the_world_are_not(method: str) -> None:
    model = topology(method, Sweep((1, 3), "2mbit", "1mbit", 1, 1))
    rates = {(node.name, card.shaping.rate_bit_s) for node in model.nodes for card in node.interfaces}
    servers = {(f"rs{number}", 1_000_000) for number in (1, 2, 3)}
    world = {("client", None)} | (set() if method == "nat" else {("router", None)})
    assert rates == servers | world | {("director", 2_000_000)}
    assert {service.port: len(service.destinations) for service in model.services} == {8000: 3, 8001: 1, 8003: 3}


def test_a_server_of_the_papers_gives_800_kilobytes_per_second() -> None:
    bit_s = parse_rate(PAPERS.server_rate)
    assert bit_s is not None
    assert bit_s / 8 * 1448 / 1514 == pytest.approx(800_000, rel=1e-4)
