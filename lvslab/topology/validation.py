"""The checks that every topology must pass, loaded from a file or built in code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lvslab.topology.checks.drive import check_drive
from lvslab.topology.checks.name_services import check_name_services
from lvslab.topology.checks.names import check_names
from lvslab.topology.checks.networks import check_networks
from lvslab.topology.checks.nodes import check_nodes
from lvslab.topology.checks.services import check_services
from lvslab.topology.faults import Fault, Places
from lvslab.topology.model import Topology

_CHECKS: tuple[Callable[[Topology], Iterator[Fault]], ...] = (
    check_names,
    lambda topology: check_networks(topology.networks),
    check_nodes,
    check_services,
    check_name_services,
    check_drive,
)


def validate(topology: Topology) -> None:
    """Raise :class:`~lvslab.errors.BadInputs` with everything that is wrong with a topology."""
    validate_at(topology, Places(topology.source or topology.name))


def validate_at(topology: Topology, places: Places) -> None:
    """Do as :func:`validate` does, naming the places in the source."""
    places.raise_any(fault for check in _CHECKS for fault in check(topology))
