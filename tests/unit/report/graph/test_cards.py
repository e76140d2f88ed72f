from __future__ import annotations

from dataclasses import replace

import pytest

from lvslab.report.graph.cards import Card, make_cards
from lvslab.topology import load_topology
from lvslab.topology.model import Topology
from tests.unit.report.graph.samples import IN_ENGLISH, MESHED


def servers(topology: Topology) -> Card:
    return next(card for card in make_cards(topology, IN_ENGLISH, stack_from=4) if card.nodes[0].name == "rs1")


def dr(servers: int, *without: str) -> Topology:
    return load_topology("dr", params={"real_servers": servers}, without=without)


def member_names(card: Card) -> str:
    """The first word of each line about a member, the number of those left out in brackets."""
    words = (row.text.split() for row in card.rows[1:] if not row.text.startswith(" "))
    return " ".join(f"({first[1]})" if first[0] == "…" else first[0] for first in words)


@pytest.mark.parametrize(
    ("topology", "shown"),
    [
        (dr(4), "rs1 rs2 rs3 rs4"),
        (dr(5), "rs1 rs2 (2) rs5"),
        (dr(64), "rs1 rs2 (61) rs64"),
        (dr(64, "arp_ignore"), "rs1 rs2 (61) rs64"),
        (dr(64, "arp_ignore@rs17"), "rs1 rs2 (14) rs17 rs18 (45) rs64"),
        (dr(64, "arp_ignore@rs[17-20]"), "rs1 rs2 (14) rs17 (3) rs21 (42) rs64"),
        (dr(9, "arp_ignore@rs9"), "rs1 rs2 (6) rs9"),
    ],
)
def test_a_stack_shows_first_second_last_and_who_differs_from_the_one_before(topology: Topology, shown: str) -> None:
    assert member_names(servers(topology)) == shown


def test_what_all_members_share_is_said_once_and_what_one_lacks_stands_with_it() -> None:
    card = servers(dr(64, "arp_ignore", "arp_announce@rs17"))
    assert "✗ arp_ignore" in [row.text for row in card.shared]
    assert [row.text.strip() for row in card.rows].count("✗ arp_announce") == 1


def test_members_left_out_are_kept_with_their_addresses() -> None:
    card = servers(dr(64))
    assert len(card.hidden) == 61
    assert card.hidden[0] == "rs3 198.18.0.13"


def test_nodes_on_other_networks_or_of_another_name_are_not_stacked_together() -> None:
    cards = make_cards(MESHED, IN_ENGLISH, stack_from=2)
    assert [card.nodes[0].name for card in cards if card.is_stack] == ["rs1"]
    assert {node.name for card in cards for node in card.nodes} == {node.name for node in MESHED.nodes}


def test_the_role_is_said_unless_the_name_says_it() -> None:
    heads = {card.nodes[0].name: str(card.rows[0]) for card in make_cards(MESHED, IN_ENGLISH, stack_from=4)}
    assert heads["lb"] == "lb director"
    assert str(make_cards(load_topology("dr"), IN_ENGLISH, stack_from=4)[0].rows[0]) == "client"


def test_control_characters_are_made_visible() -> None:
    topology = dr(1)
    hostile = replace(topology.nodes[0], sysctls=(("net.x", "\x1b[2J"),))
    card = make_cards(replace(topology, nodes=(hostile, *topology.nodes[1:])), IN_ENGLISH, stack_from=4)[0]
    assert card.rows[-1].text == "! net.x=\\x1b[2J"
