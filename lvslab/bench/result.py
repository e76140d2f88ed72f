"""What a benchmark found, ready to be shown as a table, as a chart, and as values for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Value = str | int | float


def medians_of(rounds: int) -> str:
    """Say, as the begin of a sentence, what the numbers are."""
    return "One round" if rounds == 1 else f"Medians of {rounds} rounds"


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is its name for programs; numbers are shown with so many `decimals`."""

    key: str
    heading: str
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """Points joined by a line."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """What begins at `x`."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over one x axis; both axes begin at 0."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Ratio:
    """One thing over another, both measured in the same run, and what it should be."""

    key: str
    """Its name for programs, the benchmark's own before it in a table of several."""
    text: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def aim(self) -> str:
        """Return the aim as text, empty if there is none."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}"

    @property
    def met(self) -> bool | None:
        """Tell whether the aim is met; None without one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least


@dataclass(frozen=True, slots=True)
class Part:
    """One series of measurements on one kernel."""

    key: str
    title: str
    kernel: str
    """Kind and release, as reports name it."""
    virtual_time: bool
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    facts: tuple[str, ...]
    """What the numbers say, in words."""
    chart: Chart | None = None
    ratios: tuple[Ratio, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    """The few numbers it is about."""
    readings: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Every single measurement, where rows hold medians."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The outcome of one benchmark."""

    name: str
    title: str
    parts: tuple[Part, ...]
    settings: Mapping[str, Value]
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
