"""Ratios of things measured side by side, round after round. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

Readings = Mapping[str, Sequence[float]]
"""By what was measured: a value for each round."""


def ratio(readings: Readings, one: str, other: str) -> float:
    """Return the median of the rounds' own ratios: what slows a whole round down is in both of its values."""
    return median(a / b for a, b in zip(readings[one], readings[other], strict=True))


def medians(readings: Readings) -> dict[str, float]:
    return {name: median(values) for name, values in readings.items()}
