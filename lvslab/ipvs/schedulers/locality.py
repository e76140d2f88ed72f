"""What lblc and lblcr remember by destination address, and how the kernel forgets it.

The kernel (net/netfilter/ipvs/ip_vs_lblc.c, ip_vs_lblcr.c) looks through its cache once a minute. Every thirtieth look
removes what was not used for the time in the sysctl lblc_expiration or lblcr_expiration, 24 hours at first: an entry
may live half an hour longer. The other looks remove something only when there are more than 16384 entries, and then
entries unused for 6 minutes, some buckets at a time. From 24576 entries on nothing is added. Kernel timers of a minute
are some seconds late (kernel/time/timer.c), and here they are not: within the half hour and a little in which an entry
is due to be forgotten, the kernel may still have it when the model does not, and the other way round.

The papers collect what was unused for 24 hours, and do not say when.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from lvslab.ipvs.schedulers.hashing import fold, hash_32
from lvslab.ipvs.schedulers.model import Server
from lvslab.topology.model import Address

DAY_S: Final = 24 * 60 * 60.0
"""lblc_expiration and lblcr_expiration as the kernel sets them."""
_CHECK_S: Final = 60.0
_FULL_CHECK: Final = 30
_SPARE_S: Final = 6 * 60.0
_BUCKET_BITS: Final = 10
_BUCKETS: Final = 1 << _BUCKET_BITS
_MAX_ENTRIES: Final = _BUCKETS * 16

Value = TypeVar("Value")


@dataclass(slots=True)
class Entry(Generic[Value]):
    """What is remembered of one destination address."""

    address: Address
    value: Value
    used_s: float


class Cache(Generic[Value]):
    """Entries by destination address, forgotten as the kernel does. Times are seconds since the cache was made."""

    def __init__(self) -> None:
        self.expiration_s = DAY_S
        self._entries: dict[Address, Entry[Value]] = {}
        self._checks = 0
        self._rover = 0

    def __len__(self) -> int:
        return len(self._entries)

    def use(self, address: Address, now_s: float) -> Entry[Value] | None:
        """Return what is remembered, which counts as using it."""
        self._catch_up(now_s)
        entry = self._entries.get(address)
        if entry is not None:
            entry.used_s = now_s
        return entry

    def remember(self, address: Address, value: Value, now_s: float) -> None:
        """Replace what is remembered; nothing happens when the cache is full."""
        self._entries.pop(address, None)
        if len(self) < _MAX_ENTRIES * 3 // 2:
            self._entries[address] = Entry(address, value, now_s)

    def _catch_up(self, now_s: float) -> None:
        """Make the looks that were due by now."""
        while (self._checks + 1) * _CHECK_S <= now_s:
            self._checks += 1
            if self._checks % _FULL_CHECK == 0:
                self._forget(self._checks * _CHECK_S - self.expiration_s)
            elif len(self) > _MAX_ENTRIES:
                self._forget_some(self._checks * _CHECK_S - _SPARE_S)

    def _forget(self, last_use_s: float) -> None:
        self._entries = {key: entry for key, entry in self._entries.items() if entry.used_s > last_use_s}

    def _forget_some(self, last_use_s: float) -> None:
        goal = min((len(self) - _MAX_ENTRIES) * 4 // 3, _MAX_ENTRIES // 2)
        buckets: dict[int, list[Address]] = {}
        for address in self._entries:
            buckets.setdefault(hash_32(fold(address), _BUCKET_BITS), []).append(address)
        for _ in range(_BUCKETS):
            self._rover = (self._rover + 1) % _BUCKETS
            for address in buckets.get(self._rover, ()):
                if self._entries[address].used_s <= last_use_s:
                    del self._entries[address]
                    goal -= 1
            if goal <= 0:
                break


def kernel_overloaded(server: Server, servers: list[Server]) -> bool:
    """Return whether a server has more active connections than its weight, and another less than half of its own."""
    return server.active > server.weight and any(2 * other.active < other.weight for other in servers)


def papers_overloaded(server: Server, servers: list[Server]) -> bool:
    """Return the same of connections in any state, which is what the papers count."""
    return server.connections > server.weight and any(2 * other.connections < other.weight for other in servers)
