"""Maglev hashing: a server for each client address, and few clients moved when a server comes or goes.

Not in the papers; section 3.4 of "Maglev: A Fast and Reliable Software Network Load Balancer" (NSDI 2016). Every server
has an order of preference among the 4093 places of a table, `offset`, `offset + skip`, `offset + 2 · skip`, …, and the
servers take turns at the best place still free, as many in a row as their weight by the greatest common divisor (cut to
six bits).

The kernel (net/netfilter/ipvs/ip_vs_mh.c): offset, skip and the client's place come from HSipHash under fixed keys, of
address plus port; flag mh-port adds the client's port, and mh-fallback searches on from place h with h, h + 1, … added
to what is hashed. The table is filled anew by every add, delete and edit, with each server's last weight above 0: at
weight 0 it keeps its places and its clients are refused. Servers of the other address family than the service are not
modelled: the kernel reads their addresses as the service's family.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import Final

from lvslab.ipvs.model import Flag
from lvslab.ipvs.schedulers.hashing import WORD, fold
from lvslab.ipvs.schedulers.model import Choice, Flow, KernelScheduler, Server
from lvslab.ipvs.schedulers.siphash import hsiphash
from lvslab.ipvs.schedulers.table import choose_from_table

TABLE_SIZE: Final = 4093
"""With CONFIG_IP_VS_MH_TAB_INDEX=12, the default."""
_TURN_BITS: Final = 6
_KEY: Final = 2654435761
_SKIP_KEY: Final = 2654446892


@dataclass(slots=True)
class _Preference:
    """A server's next preferred place and how many places it takes in a row."""

    name: str
    place: int
    skip: int
    turns: int


class KernelMaglevHashing(KernelScheduler):
    def start(self) -> None:
        self._fill()

    def added(self, position: int) -> None:  # noqa: ARG002 - the whole table is filled anew
        self._fill()

    def deleted(self, position: int) -> None:  # noqa: ARG002 - the whole table is filled anew
        self._fill()

    def edited(self) -> None:
        self._fill()

    def choose(self, flow: Flow, /) -> Choice:
        servers = {server.name: server for server in self.servers}
        return choose_from_table([servers[name] for name in self._table], self._places(flow))

    def _places(self, flow: Flow) -> Iterator[int]:
        key = fold(flow.source) + (flow.source_port if Flag.MH_PORT in self.flags else 0)
        first = hsiphash(key & WORD, _KEY) % TABLE_SIZE
        yield first
        if Flag.MH_FALLBACK in self.flags:
            for step in range(TABLE_SIZE):
                yield hsiphash(key + (first + step) % TABLE_SIZE & WORD, _KEY) % TABLE_SIZE

    def _fill(self) -> None:
        preferences = self._preferences()
        table: list[str | None] = [None] * TABLE_SIZE
        turn = _turn(preferences)
        for _ in range(TABLE_SIZE if preferences else 0):
            preference = next(turn)
            while table[preference.place] is not None:
                preference.place = (preference.place + preference.skip) % TABLE_SIZE
            table[preference.place] = preference.name
        self._table = [name for name in table if name is not None]

    def _preferences(self) -> list[_Preference]:
        weights = {server.name: self.last_weights[server.name] for server in self.servers}
        divisor = gcd(*weights.values())
        if divisor == 0:
            return []
        shift = max((max(weights.values()) // divisor).bit_length() - _TURN_BITS, 0)
        return [
            _preference(server, max(weights[server.name] // divisor >> shift, 1))
            for server in self.servers
            if weights[server.name]
        ]


def _preference(server: Server, turns: int) -> _Preference:
    if server.address is None:
        raise ValueError("mh hashes the servers' addresses")
    key = fold(server.address) + server.port & WORD
    skip = hsiphash(key, _SKIP_KEY) % (TABLE_SIZE - 1) + 1
    return _Preference(server.name, hsiphash(key, _KEY) % TABLE_SIZE, skip, turns)


def _turn(preferences: list[_Preference]) -> Iterator[_Preference]:
    """Return the servers in rotation, each as often in a row as its turns, without end."""
    while True:
        for preference in preferences:
            for _ in range(preference.turns):
                yield preference
