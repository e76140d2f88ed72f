"""What is chosen before a topology is begun."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lvslab.topology.limits import GROUP_MEMBERS, Range
from lvslab.topology.model import Protocol

FAMILIES: Final = ("4", "6")
SERVERS: Final = Range(1, GROUP_MEMBERS)


class Forwarding(StrEnum):
    """How the director sends requests on: the LVS papers' three methods, and the fourth that practitioners count."""

    NAT = "nat"
    DR = "dr"
    TUN = "tun"
    FULLNAT = "fullnat"


@dataclass(frozen=True, slots=True)
class Choices:
    """`family` is an IP version."""

    name: str
    forwarding: Forwarding
    family: str = "4"
    protocol: Protocol = Protocol.TCP
    scheduler: str = "rr"
    real_servers: int = 2
