"""What a table loses on the way through `ipvsadm-save -n` and `ipvsadm-restore` (ipvsadm 1.31)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import combinations
from typing import Final

from lvslab.ipvs.model import Destination, Flag, FwmarkKey, IntendedService

NEVER_SAVED: Final = (
    "thresholds (-x, -y)",
    "the order in which servers were added",
    "timeouts (--set)",
    "sync daemons (--start-daemon)",
)
"""Facts of a table that the text has no place for, or that `-S` does not print."""

_LARGEST_MARK: Final = 2**31 - 1


def lost_by_saving(services: Iterable[IntendedService]) -> tuple[str, ...]:
    """Return what `ipvsadm -Sn` would not say of a table, or would say so that `ipvsadm -R` cannot read it."""
    return tuple(f"service {item.service.key}: {text}" for item in services for text in _lost(item))


def printed_order(destinations: Sequence[Destination]) -> tuple[Destination, ...]:
    """Return destinations as `ipvsadm -S` and `-L` sort them, if there is such an order; -S takes no --nosort."""
    return tuple(sorted(destinations, key=cmp_to_key(_compare)))


def _lost(item: IntendedService) -> Iterator[str]:
    service = item.service
    if isinstance(service.key, FwmarkKey) and service.key.mark > _LARGEST_MARK:
        # ipvsadm.c: print_service_entry prints it with %d.
        yield f"mark {service.key.mark} is printed as {service.key.mark - 2**32}, which ipvsadm -R refuses"
    if service.scheduler in ("sh", "mh") and Flag.SCHEDULER_3 in service.flags:
        # ipvsadm.c: print_sched_flags knows two flags of these.
        yield f"{Flag.SCHEDULER_3} of {service.scheduler} is printed as -b without a name, which ipvsadm -R refuses"
    for destination in item.destinations:
        if destination.upper_threshold:
            yield f"thresholds of {destination}: -x {destination.upper_threshold} -y {destination.lower_threshold}"
    if not _in_order(item.destinations):
        printed = printed_order(item.destinations)
        becomes = _listed(printed) if _in_order(printed) else "one that depends on ipvsadm's C library"
        yield f"order of adding, {_listed(item.destinations)}, becomes {becomes}"


def _in_order(destinations: Sequence[Destination]) -> bool:
    """Tell whether every pair is in order: neighbours do not suffice, since the comparison can go round in circles."""
    return all(_compare(one, other) <= 0 for one, other in combinations(destinations, 2))


def _listed(destinations: Iterable[Destination]) -> str:
    return ", ".join(map(str, destinations))


def _compare(one: Destination, other: Destination) -> int:
    """libipvs.c: ipvs_cmp_dests. Differences are 32 bits with a sign: 10.0.0.1 comes after 192.0.2.1."""
    words = 4 if one.address.version == 6 else 1
    for mine, theirs in zip(_words(one)[:words], _words(other)[:words], strict=True):
        if mine != theirs:
            return (mine - theirs + 2**31) % 2**32 - 2**31
    return one.port - other.port


def _words(destination: Destination) -> tuple[int, ...]:
    """The 16 bytes that libipvs keeps of any address, as numbers of 32 bits."""
    packed = destination.address.packed.ljust(16, b"\0")
    return tuple(int.from_bytes(packed[start : start + 4], "big") for start in range(0, 16, 4))
