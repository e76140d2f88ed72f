"""What the papers call an address."""

from __future__ import annotations

import pytest

from lvslab.topology import load_topology
from lvslab.walk.terms import address_terms

EXPECTED = {
    "nat": {"203.0.113.10": "CIP", "203.0.113.100": "VIP", "198.18.0.1": "DIP", "198.18.0.12": "RIP2"},
    "dr": {"203.0.113.10": "CIP", "198.18.0.10": "VIP", "198.18.0.2": "DIP", "198.18.0.11": "RIP1"},
    "tun": {"203.0.113.10": "CIP", "203.0.113.100": "VIP", "203.0.113.2": "DIP", "198.18.0.12": "RIP2"},
    "rr-dns": {"203.0.113.10": "CIP1", "203.0.113.12": "CIP3", "198.18.0.12": "RIP2"},
}


@pytest.mark.parametrize("name", list(EXPECTED))
def test_terms_of_the_shipped_topologies(name: str) -> None:
    terms = address_terms(load_topology(name))
    assert EXPECTED[name].items() <= terms.items()
    assert len(set(terms.values())) == len(terms)


def test_an_address_without_a_role_in_the_papers_has_no_term() -> None:
    assert "203.0.113.1" not in address_terms(load_topology("dr"))
