"""What a page is made of. Build these from finished results and hand them to `lvslab.report.html.page`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from lvslab.topology.model import Topology
from lvslab.verify.result import TopologyResult, Verdict
from lvslab.walk.model import Walks


@dataclass(frozen=True, slots=True)
class Prose:
    """Text in Markdown (CommonMark). Its HTML and its images are not taken over: a page needs nothing else."""

    markdown: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that was to be done, and how it was judged; `notes` say why, a paragraph each."""

    text: str
    verdict: Verdict
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tasks:
    title: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was predicted beside what was observed."""

    question: str
    predicted: str
    observed: str
    agrees: bool | None = None
    """None: not judged."""
    frame: int | None = None
    """The frame that shows it, linked where the page's packets have it."""


@dataclass(frozen=True, slots=True)
class Predictions:
    predictions: tuple[Prediction, ...]
    title: str = ""
    """Default: the page's own words."""
    reasons: tuple[str, ...] = ()
    """Why something was not predicted, in English."""
    group: str = ""
    """The `Packets` of this name are the ones meant by frame numbers."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A topology's expectations, judged."""

    result: TopologyResult
    group: str = ""


@dataclass(frozen=True, slots=True)
class Packets:
    """Walks, on the drawing of their topology where it is known."""

    walks: Walks
    topology: Topology | None = None
    group: str = ""
    """Tells these packets from others on the same page; frame numbers of sections of this group mean these."""
    heading: str = ""
    evidence: frozenset[int] = frozenset()
    """Frames whose connections are never left out before others."""
    connection: int = 1
    """Which connection is shown first, from 1."""


Section: TypeAlias = Prose | Tasks | Predictions | Verdicts | Packets


def shown_groups(sections: Iterable[Section]) -> tuple[Packets, ...]:
    return tuple(section for section in sections if isinstance(section, Packets))
