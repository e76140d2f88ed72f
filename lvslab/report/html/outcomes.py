"""Verdicts and predictions as a page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lvslab.report.evidence import facts
from lvslab.report.html.phrases import PagePhrases
from lvslab.report.html.sections import Predictions, Verdicts
from lvslab.verify.meanings import meaning
from lvslab.verify.result import Result, TopologyResult, Verdict

_MOST_FRAMES = 24
_OPEN_UP_TO = 16
"""Predictions: a longer table is folded when all of them came true."""


@dataclass(frozen=True, slots=True)
class ExpectationView:
    name: str
    verdict: Verdict
    meaning: str
    facts: tuple[tuple[str, str], ...]
    """Label in the page's language, text in English."""
    frames: tuple[int, ...]
    more_frames: int

    @property
    def open(self) -> bool:
        return self.verdict in (Verdict.FAIL, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class VerdictsView:
    heading: str
    result: TopologyResult
    counts: str
    facts: tuple[tuple[str, str], ...]
    expectations: tuple[ExpectationView, ...]
    ids: Mapping[int, str]
    """The element of each frame that the page shows."""


def verdicts_view(section: Verdicts, ids: Mapping[int, str], say: PagePhrases) -> VerdictsView:
    result = section.result
    counts = Counter(item.verdict for item in result.expectations)
    words = [f"{counts[verdict]} {say.verdict_words[verdict]}" for verdict in Verdict if counts[verdict]]
    return VerdictsView(
        say.of_topology.format(what=say.verdicts, topology=result.topology),
        result,
        say.list_comma.join(words),
        tuple(_result_facts(result, say)),
        tuple(_expectation(item, say) for item in result.expectations),
        ids,
    )


def _result_facts(result: TopologyResult, say: PagePhrases) -> list[tuple[str, str]]:
    params = ", ".join(f"{name}={value}" for name, value in result.params.items())
    pairs = [
        (say.kernel, f"{result.where}, {result.backend}"),
        (say.frames, str(result.frames)),
        (say.parameters, params),
    ]
    return [(label, text) for label, text in pairs if text]


def _expectation(result: Result, say: PagePhrases) -> ExpectationView:
    labels = {"where": say.where, "expected": say.expected, "seen": say.seen, "cause": say.cause, "next": say.next}
    return ExpectationView(
        result.name,
        result.verdict,
        meaning(result.name, say.language),
        tuple((labels[label], text) for label, text in facts(result) if label in labels),
        result.frames[:_MOST_FRAMES],
        len(result.frames[_MOST_FRAMES:]),
    )


@dataclass(frozen=True, slots=True)
class PredictionRow:
    question: str
    predicted: str
    observed: str
    kind: str
    sign: str
    word: str
    href: str


@dataclass(frozen=True, slots=True)
class PredictionsView:
    title: str
    summary: str
    reasons: tuple[str, ...]
    rows: tuple[PredictionRow, ...]

    @property
    def open(self) -> bool:
        return len(self.rows) <= _OPEN_UP_TO or any(row.kind == "differs" for row in self.rows)


def predictions_view(section: Predictions, ids: Mapping[int, str], say: PagePhrases) -> PredictionsView:
    marks = {True: ("agrees", "✓", say.agrees), False: ("differs", "✗", say.differs), None: ("open", "–", say.open)}
    rows = tuple(
        PredictionRow(
            item.question,
            item.predicted,
            item.observed,
            *marks[item.agrees],
            ids.get(item.frame, "") if item.frame is not None else "",
        )
        for item in section.predictions
    )
    agreed = sum(item.agrees is True for item in section.predictions)
    return PredictionsView(
        section.title or say.predictions,
        say.as_predicted.format(count=agreed, total=len(rows)),
        section.reasons,
        rows,
    )
