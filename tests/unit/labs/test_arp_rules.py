"""ARP filters are read from arptables' own listing, and come back as what makes them."""

from __future__ import annotations

from lvslab.labs.snapshot import _arp_rules

LISTED = """\
Chain INPUT (policy ACCEPT)
-j DROP -d 198.18.0.10

Chain OUTPUT (policy DROP)
-j mangle -s 198.18.0.10 --mangle-ip-s 198.18.0.11
"""


def test_a_listing_becomes_commands() -> None:
    assert list(_arp_rules(LISTED)) == [
        "-P INPUT ACCEPT",
        "-A INPUT -j DROP -d 198.18.0.10",
        "-P OUTPUT DROP",
        "-A OUTPUT -j mangle -s 198.18.0.10 --mangle-ip-s 198.18.0.11",
    ]
    assert list(_arp_rules("")) == []
