"""Axes with round numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log10

MOST_STEPS = 6


def ticks(largest: float) -> tuple[float, ...]:
    """Return 0 and its multiples of 1, 2 or 5 times a power of ten, up to the first that `largest` does not exceed."""
    step = _step(largest / MOST_STEPS) if largest > 0 else 1.0
    return tuple(number * step for number in range(ceil(largest / step - 1e-9) + 1)) if largest > 0 else (0.0, step)


def _step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def tick_text(value: float) -> str:
    return f"{value:g}"


def largest(values: Iterable[float]) -> float:
    return max(values, default=0.0)
