"""A file under /proc read again and again, and what it said each time: the connection table, while packets pass.

A text that stays is kept once, with the readings that first and last had it: between the last reading of one text
and the first of the next the file changed. What came and went between two readings was not seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from lvslab.agent.files import read_file
from lvslab.agent.namespaces import Namespaces


@dataclass(slots=True)
class Spell:
    """One text, for as long as each reading had it. Times are nanoseconds since the epoch."""

    text: bytes
    first_end_ns: int
    """When the first reading that had it ended."""
    last_begin_ns: int
    """When the last reading that had it began."""
    readings: int = 1


class Watch:
    """Readings of one file as a node sees it."""

    def __init__(self, namespaces: Namespaces, node: str, path: str) -> None:
        self._namespaces = namespaces
        self._node = node
        self._path = path
        self.spells: list[Spell] = []
        self.longest_gap_ns = 0
        """The longest time from the beginning of one reading to the end of the next."""

    def read(self) -> bytes:
        begin_ns = time.time_ns()
        text = read_file(self._namespaces, self._node, self._path)
        end_ns = time.time_ns()
        spell = self.spells[-1] if self.spells else None
        if spell is not None:
            self.longest_gap_ns = max(self.longest_gap_ns, end_ns - spell.last_begin_ns)
        if spell is not None and spell.text == text:
            spell.last_begin_ns = begin_ns
            spell.readings += 1
        else:
            self.spells.append(Spell(text, end_ns, begin_ns))
        return text
