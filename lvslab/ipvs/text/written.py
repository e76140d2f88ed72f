"""A table as a file has it: services and destinations with their lines, whether or not a kernel would take them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lvslab.errors import BadInput, BadInputs
from lvslab.ipvs.model import Destination, IntendedService, Service


@dataclass(frozen=True, slots=True)
class WrittenDestination:
    destination: Destination
    line: int


@dataclass(frozen=True, slots=True)
class WrittenService:
    """`destinations` in the order of the file, which is the order of adding."""

    service: Service
    line: int
    destinations: tuple[WrittenDestination, ...] = ()

    def with_destination(self, destination: Destination, line: int) -> WrittenService:
        return replace(self, destinations=(*self.destinations, WrittenDestination(destination, line)))

    @property
    def intended(self) -> IntendedService:
        return IntendedService(self.service, tuple(item.destination for item in self.destinations))


class LineFaults:
    """Gathers what is wrong with a file's lines, so that one line does not hide the next."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._faults: list[BadInput] = []

    def add(self, line: int, error: BadInput) -> None:
        self._faults.append(
            BadInput(
                error.what,
                where=f"{self._source}:{line}",
                expected=error.expected,
                found=error.found,
                next_step=error.next_step,
            )
        )

    def raise_any(self) -> None:
        """Raise BadInputs if there were any."""
        if self._faults:
            raise BadInputs(tuple(self._faults))
