"""What was read of a director's configuration, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lvslab.importing.finding import Finding, Note
from lvslab.ipvs.text import WrittenService
from lvslab.topology.model import Address


class Format(StrEnum):
    """What a file is, in words."""

    TOPOLOGY = "topology"
    SAVED = "ipvsadm-save text"
    LISTING = "ipvsadm -Ln listing"
    KEEPALIVED = "keepalived.conf"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Services with their lines. `findings` came to light while reading; the rules find the rest."""

    format: Format
    source: str
    services: tuple[WrittenService, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    vrrp_addresses: frozenset[Address] | None = None
    """What the vrrp instances hold; None if there are none."""
