"""A student's own variant: parameters drawn from a seed, the same on every machine.

The seed is a token that the instructor makes of the course's secret and the student's id (HMAC, RFC 2104), so that
nobody can work out somebody else's, and a submission's variant can be made again. Without one, everybody has the
variant of the empty seed.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from lvslab.labs.document import VariantEntry
from lvslab.topology.faults import Fault

TOKEN_DIGITS = 16


def student_token(secret: bytes, student: str) -> str:
    """Return the token of one student in a course."""
    return hmac.new(secret, student.encode(), hashlib.sha256).hexdigest()[:TOKEN_DIGITS]


def draw(variants: Mapping[str, VariantEntry], seed: str, lab_id: str) -> dict[str, object]:
    """Return a value for each parameter; another parameter's range does not change it."""
    return {name: _drawn(entry, _Dice(f"{seed}/{lab_id}/{name}")) for name, entry in variants.items()}


def variant_faults(variants: Mapping[str, VariantEntry]) -> list[Fault]:
    """Return what is wrong with the ranges and lists themselves."""
    return [fault for name, entry in variants.items() for fault in _faults(("variants", name), entry)]


def _faults(path: tuple[str | int, ...], entry: VariantEntry) -> list[Fault]:
    in_range = entry.first is not None or entry.last is not None
    ways = [entry.of is not None, entry.shuffle is not None, in_range]
    if sum(ways) != 1:
        return [Fault(path, "not a variant", "a list, from: and to:, or shuffle:", None)]
    if in_range and (entry.first is None or entry.last is None or entry.first > entry.last):
        return [Fault(path, "an empty range", "from: at most to:", f"{entry.first} to {entry.last}")]
    if not in_range and not (entry.of or entry.shuffle):
        return [Fault(path, "an empty list", "at least one value")]
    return []


def _drawn(entry: VariantEntry, dice: _Dice) -> object:
    if entry.shuffle is not None:
        return " ".join(map(str, dice.order(entry.shuffle)))
    if entry.of is not None:
        return entry.of[dice.below(len(entry.of))]
    first, last = entry.first or 0, entry.last or 0
    return first + dice.below(last - first + 1)


class _Dice:
    """Numbers from a text: SHA-256, since Python's own generator may change between versions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._throws = 0

    def below(self, bound: int) -> int:
        """Return 0 to bound - 1. 64 bits against some hundreds: the bias is nothing."""
        self._throws += 1
        digest = hashlib.sha256(f"{self._text}#{self._throws}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % bound

    def order(self, items: list[object]) -> list[object]:
        """Return the items in a random order (Fisher and Yates)."""
        left, done = list(items), []
        while left:
            done.append(left.pop(self.below(len(left))))
        return done
