"""Random series of changes and connections, the same for the same seed."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from lvslab.ipvs.model import Family, Flag
from lvslab.ipvs.schedulers import Reading
from lvslab.ipvs.schedulers.lblcr import KernelReplicatedLocality
from lvslab.ipvs.schedulers.locality import DAY_S
from lvslab.topology.model import Address, Protocol
from tests.kernel.scheduler_rig import FIRST_PORT, SERVERS, Rig, Twin

ALL_SERVERS: Final = tuple(f"rs{number}" for number in range(1, SERVERS + 1))
FLAGS: Final = {"sh": (Flag.SH_FALLBACK, Flag.SH_PORT), "mh": (Flag.MH_FALLBACK, Flag.MH_PORT)}
BY_DESTINATION: Final = ("dh", "lblc", "lblcr")
"""Schedulers that look at the destination address: more of their services are by firewall mark, with several."""
WEIGHTS: Final = (0, 1, 1, 1, 2, 3, 4, 5, 10, 30, 100)
MOST_AT_ONCE: Final = 30


class Series:
    """One service; `scheduler` and `seed` decide everything that happens to it."""

    def __init__(
        self, rig: Rig, scheduler: str, seed: int, *, reading: Reading = "kernel", ageing: bool = True
    ) -> None:
        """Without `ageing` the model is not told that lblcr's sets age, while the kernel's do."""
        self.scheduler = scheduler
        self.seed = seed
        self.changes = 0
        self._ageing = ageing
        self._random = random.Random(f"{scheduler} {seed}")
        by_mark = 2 if scheduler in BY_DESTINATION else 1
        self.twin = Twin(
            rig,
            scheduler,
            family=self._random.choice(list(Family)),
            protocol=self._random.choice([Protocol.TCP, Protocol.UDP, *[None] * 2 * by_mark]),
            reading=reading,
        )

    def __str__(self) -> str:
        twin = self.twin
        kind = twin.protocol or "firewall mark"
        return f"{self.scheduler}, seed {self.seed}, {twin.family}, {kind}, {twin.connections} connections"

    def run(self, connections: int) -> None:
        """Go on until so many connections have been made, or one went elsewhere than predicted."""
        for _ in range(3):
            self._add()
        steps, often = zip(*STEPS, strict=True)
        while self.twin.connections < connections and not self.twin.mismatches:
            for step in self._random.choices(steps, often, k=self._random.choice([0, 1, 1, 2, 3, 5])):
                step(self)
                self.changes += 1
            self._traffic(min(self._random.randint(1, MOST_AT_ONCE), connections - self.twin.connections))
        self.twin.remove()

    def _add(self) -> None:
        absent = [name for name in ALL_SERVERS if name not in self.twin.present]
        if absent:
            self.twin.add(self._random.choice(absent), self._random.choice(WEIGHTS), **self._thresholds())

    def _delete(self) -> None:
        if len(self.twin.present) > 1:
            self.twin.delete(self._random.choice(sorted(self.twin.present)))

    def _edit(self) -> None:
        name = self._random.choice(sorted(self.twin.present))
        self.twin.edit(name, self._random.choice(WEIGHTS), **self._thresholds())

    def _thresholds(self) -> dict[str, int]:
        if self._random.random() > 0.3:
            return {}
        upper = self._random.randint(1, 12)
        return {"upper": upper, "lower": self._random.choice([0, self._random.randint(0, upper)])}

    def _edit_service(self) -> None:
        """Set other flags, and half the time go to another scheduler and come back."""
        if self._random.random() < 0.5:
            self.twin.edit_service(
                self._random.choice([name for name in ("rr", "wrr", "lc") if name != self.scheduler])
            )
        flags = [flag for flag in FLAGS.get(self.scheduler, ()) if self._random.random() < 0.5]
        self.twin.edit_service(self.scheduler, frozenset(flags))

    def _expire(self) -> None:
        settable = [held for held in self.twin.held if held.protocol is not Protocol.SCTP]
        ending = [held for held in settable if self.twin.can_close(held) and self._random.random() < 0.6]
        if ending:
            self.twin.expire(ending)

    def _let_sets_age(self) -> None:
        """Make every set of lblcr's older than its expiration, as none of those changed meanwhile is."""
        scheduler = self.twin.model.scheduler
        if not isinstance(scheduler, KernelReplicatedLocality):
            return
        time.sleep(1.2)
        self.twin.now_s += 2 if self._ageing else 0
        for seconds, connections in ((1, self._random.randint(2, 12)), (int(DAY_S), 0)):
            scheduler.cache.expiration_s = seconds
            self.twin.rig.director("sysctl", "-qw", f"net.ipv4.vs.lblcr_expiration={seconds}")
            self._traffic(connections)

    def _traffic(self, connections: int) -> None:
        """Make connections, and close some of those there are in between."""
        for _ in range(connections):
            while self.twin.held and self._random.random() < 0.35:
                held = self._random.choice(self.twin.held)
                # A closed association would expire within a minute.
                if self.twin.can_close(held) and held.protocol is not Protocol.SCTP:
                    self.twin.close(held)
            self.twin.open(
                self._source(),
                self._random.randrange(FIRST_PORT, 65536),
                self._random.choice(self.twin.vips),
                self.twin.protocol or self._random.choice(list(Protocol)),
                established=self._random.random() < 0.7,
            )
        self.twin.compare()

    def _source(self) -> Address:
        if self.twin.family is Family.IPV4:
            return IPv4Address(f"198.51.{self._random.randrange(256)}.{self._random.randrange(1, 255)}")
        return IPv6Address((0x20010DB80077 << 80) + self._random.randrange(1 << 80))


STEPS: Final = (
    (Series._add, 4),
    (Series._delete, 3),
    (Series._edit, 6),
    (Series._edit_service, 2),
    (Series._expire, 1),
    (Series._let_sets_age, 2),
)
"""What happens between connections, and how often by comparison."""


def total(series: Iterable[Series]) -> str:
    """Return what series came to, in words."""
    done = list(series)
    connections = sum(item.twin.connections for item in done)
    refused = sum(item.twin.refused for item in done)
    changes = sum(item.changes for item in done)
    marks = sum(item.twin.marks for item in done)
    cleared = sum(item.twin.cleared for item in done)
    wrong = sum(len(item.twin.mismatches) for item in done)
    return (
        f"{connections} connections ({refused} refused), {changes} changes, servers overloaded {marks} times "
        f"(and relieved by connections that expired {cleared} times): {wrong} mismatches"
    )
