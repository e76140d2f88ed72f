"""Faults of a topology: where, what was expected, what was found; gathered, then reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from lvslab.errors import BadInput, BadInputs

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of the description down: ``("services", 0, "vip")``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `what` names no node, so that the same fault of a whole group is reported once."""

    path: KeyPath
    what: str
    expected: str | None = None
    found: str | None = None
    next_step: str | None = None


class UnusableError(Exception):
    """A value cannot be used; whoever knows where it stands turns this into a :class:`Fault`."""

    def __init__(
        self, what: str, *, expected: str | None = None, found: str | None = None, next_step: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.found = found
        self.next_step = next_step

    def at(self, path: KeyPath) -> Fault:
        return Fault(path, self.what, self.expected, self.found, self.next_step)


@dataclass(slots=True)
class Collector:
    """Gathers what comes to light while a document is resolved, beside the model."""

    faults: list[Fault] = field(default_factory=list)
    """All of them, so that one bad value does not hide the next."""
    written: dict[KeyPath, KeyPath] = field(default_factory=dict)
    """Where in the document a part of the model comes from, when a group there was unfolded."""

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Record an :class:`UnusableError` raised inside as a fault at `path`."""
        try:
            yield
        except UnusableError as problem:
            self.faults.append(problem.at(path))


@dataclass(frozen=True, slots=True)
class Places:
    """Where the keys of a description stand in its source."""

    source: str
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    """Line of each key and list item, counting from 1; empty for topologies built in code."""
    written: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """Path in the source for parts of the model that have another path there: members of groups."""

    def bad_input(self, fault: Fault) -> BadInput:
        path = self._as_written(fault.path)
        keys = _dotted(path)
        line = self._line(path)
        return BadInput(
            f"{keys}: {fault.what}" if keys else fault.what,
            where=self.source if line is None else f"{self.source}:{line}",
            expected=fault.expected,
            found=fault.found,
            next_step=fault.next_step,
        )

    def raise_any(self, faults: Iterable[Fault]) -> None:
        """Raise :class:`~lvslab.errors.BadInputs` unless there are no faults; in order of line, repetitions dropped."""
        by_line = sorted(faults, key=lambda fault: self._line(self._as_written(fault.path)) or 0)
        first: dict[tuple[KeyPath, str], Fault] = {}
        for fault in by_line:
            first.setdefault((self._as_written(fault.path), fault.what), fault)
        if first:
            raise BadInputs(tuple(self.bad_input(fault) for fault in first.values()))

    def _as_written(self, path: KeyPath) -> KeyPath:
        for length in range(len(path), 0, -1):
            origin = self.written.get(path[:length])
            if origin is not None:
                path = (*origin, *path[length:])
                break
        while self.lines and path and isinstance(path[-1], int) and path not in self.lines:
            path = path[:-1]  # one value was written where the format also takes a list
        return path

    def _line(self, path: KeyPath) -> int | None:
        """Return the line of the deepest key of `path` that the source has."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return None


def _dotted(path: KeyPath) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
