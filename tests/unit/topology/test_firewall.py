"""A firewall that would have nothing to do is refused: it could only seem to have done something."""

from __future__ import annotations

import pytest

from lvslab.errors import BadInput
from lvslab.topology import load_text

TOPOLOGY = """
name: firewall
networks: {{net: [198.18.0.0/24, "2001:db8::/64"]}}
nodes:
  client: {{role: client, on: {{net: 10}}}}
  director: {{role: director, on: {{net: 1}}, {firewall}}}
  rs1: {{role: real-server, on: {{net: 11}}}}
services:
  - {{vip: "{vip}", port: 80, protocol: {protocol}, method: dr, scheduler: rr, servers: rs1}}
"""
IPV4, IPV6 = "198.18.0.100", "2001:db8::100"
CLAMP, DROP = "clamp_mss: 1200", "drop: icmp"


@pytest.mark.parametrize(
    ("firewall", "vip", "protocol", "said"),
    [
        (CLAMP, IPV4, "udp", "clamp_mss: nothing to clamp"),
        (CLAMP, IPV4, "sctp", "clamp_mss: nothing to clamp"),
        (CLAMP, IPV6, "tcp", "clamp_mss: nothing to clamp"),
        (DROP, IPV6, "tcp", "drop: nothing to drop"),
    ],
)
def test_what_can_have_no_effect_is_refused(firewall: str, vip: str, protocol: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        load_text(TOPOLOGY.format(firewall=firewall, vip=vip, protocol=protocol), "firewall.yaml")


@pytest.mark.parametrize(("firewall", "protocol"), [(CLAMP, "tcp"), (DROP, "tcp"), (DROP, "udp"), (DROP, "sctp")])
def test_what_has_an_effect_is_taken(firewall: str, protocol: str) -> None:
    topology = load_text(TOPOLOGY.format(firewall=firewall, vip=IPV4, protocol=protocol), "firewall.yaml")
    assert topology.name == "firewall"
