"""Rates and delays: as text, by network and node, and as what the plan has both ends of a cable do."""

from __future__ import annotations

import pytest

from lvslab.plan import make_plan
from lvslab.plan.shell import shell_lines, shell_script
from lvslab.plan.steps import LoadModules, ShapeSending
from lvslab.topology import load_text
from lvslab.topology.faults import UnusableError
from lvslab.topology.model import Topology
from lvslab.topology.shaping import parse_delay, parse_rate, rate_text

FILE = """
name: shaped
networks: {{outside: 203.0.113.0/24, inside: {{subnets: 198.18.0.0/24, {network}}}}}
nodes:
  router: {{role: router, on: {{outside: 1, inside: 1}}, {node}}}
"""


def topology(network: str = "rate: unlimited", node: str = "rate: unlimited") -> Topology:
    return load_text(FILE.format(network=network, node=node), "test")


@pytest.mark.parametrize(
    ("text", "bit_s", "shortest"),
    [
        ("100mbit", 100_000_000, "100mbit"),
        ("100 Mbit", 100_000_000, "100mbit"),
        ("1.5gbit", 1_500_000_000, "1500mbit"),
        ("6400kbit", 6_400_000, "6400kbit"),
        ("8kbit", 8000, "8kbit"),
        ("8008bit", 8008, "8008bit"),
        ("10gbit", 10**10, "10gbit"),
    ],
)
def test_a_rate_is_bits_per_second(text: str, bit_s: int, shortest: str) -> None:
    assert parse_rate(text) == bit_s
    assert rate_text(bit_s) == shortest


def test_unlimited_is_no_rate() -> None:
    assert parse_rate("unlimited") is None


@pytest.mark.parametrize("text", ["", "mbit", "-1mbit", "1mibit", "1mbit/s", "1,5mbit", "١mbit", "none", "7999bit"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UnusableError):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "delay_ms"), [("0ms", 0), ("20ms", 20), ("1s", 1000), ("1.5s", 1500), ("10 s", 10_000)]
)
def test_a_delay_is_whole_milliseconds(text: str, delay_ms: int) -> None:
    assert parse_delay(text) == delay_ms


@pytest.mark.parametrize("text", ["", "20", "20us", "0.5ms", "10001ms", "-1ms"])
def test_what_is_no_delay_is_refused(text: str) -> None:
    with pytest.raises(UnusableError):
        parse_delay(text)


@pytest.mark.parametrize(
    ("network", "node", "inside", "outside"),
    [
        ("rate: 1mbit", "without: []", (1_000_000, 0), (None, 0)),
        ("rate: 1mbit, delay: 5ms", "rate: 2mbit", (2_000_000, 5), (2_000_000, 0)),
        ("rate: 1mbit, delay: 5ms", "delay: {inside: 0ms}", (1_000_000, 0), (None, 0)),
        ("rate: 1mbit", "rate: unlimited", (None, 0), (None, 0)),
        ("rate: 1mbit", "rate: {'*': 2mbit, inside: 3mbit}", (3_000_000, 0), (2_000_000, 0)),
    ],
)
def test_what_a_node_says_of_its_cards_wins(
    network: str, node: str, inside: tuple[int | None, int], outside: tuple[int | None, int]
) -> None:
    cards = {card.network: card.shaping for card in topology(network, node).node("router").interfaces}
    assert {name: (shaping.rate_bit_s, shaping.delay_ms) for name, shaping in cards.items()} == {
        "inside": inside,
        "outside": outside,
    }


def test_both_ends_of_a_cable_are_shaped() -> None:
    steps = make_plan(topology("rate: 100mbit, delay: 20ms", "without: []")).of_kind(ShapeSending)
    assert [line for step in steps for line in shell_lines(step)] == [
        "tc -n router qdisc add dev eth1 root netem limit 991 delay 20ms rate 100mbit",
        "tc -n sw-inside qdisc add dev router root netem limit 991 delay 20ms rate 100mbit",
    ]


def test_nothing_shaped_needs_no_tc() -> None:
    plan = make_plan(topology())
    assert "tc -n" not in shell_script(plan)
    (modules,) = plan.of_kind(LoadModules)
    assert isinstance(modules, LoadModules)
    assert "sch_netem" not in modules.names
