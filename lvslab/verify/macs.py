"""Whose MAC it is."""

from __future__ import annotations

from collections.abc import Mapping

from lvslab.verify.evidence import Evidence


def mac_owners(evidence: Evidence) -> Mapping[str, str]:
    """Return the node by MAC: as the topology says, and for MACs it does not know, as the capture shows."""
    described = {interface.mac: node.name for node in evidence.topology.nodes for interface in node.interfaces}
    return {**evidence.walks.names.macs, **described}
