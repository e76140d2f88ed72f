"""A student's report of a lab as one HTML page: what was done, what was predicted beside what was seen, the packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lvslab.labs.answers import agree
from lvslab.labs.model import Step, StepKind
from lvslab.labs.progress import StepProgress
from lvslab.labs.session import Session, predictions_over
from lvslab.labs.show import NOT_OBSERVED
from lvslab.labs.words import Language, Words, words
from lvslab.report.html import Packets, Prediction, Predictions, Prose, Section, Task, Tasks, page
from lvslab.verify.result import Verdict
from lvslab.walk.terms import with_terms

if TYPE_CHECKING:
    from lvslab.lab import Examination

_TASKS = Words("Steps", "步骤")
_STUDENT = Words("student", "学生")
_POINTS = Words("points", "分数")
_HINTS = Words("hints: {n}", "提示：{n}")
_ATTEMPTS = Words("checks that did not pass: {n}", "未通过的检查：{n}")
_NOT_YET = Words("not done yet", "尚未完成")
_GAVE_UP = Words("the solution was looked up", "查看了答案")


def report_page(session: Session, examination: Examination | None, language: Language) -> bytes:
    """Return the page; with an examination of the running network it has the packets too."""
    guided, progress = session.guided, session.progress
    facts = [(_POINTS.in_(language), f"{session.points}/{guided.points}")]
    if progress.student:
        facts.insert(0, (_STUDENT.in_(language), progress.student))
    title = f"{guided.id} · {guided.title.in_(language)}"
    return page(title, _sections(session, examination, language), language=language, facts=facts)


def _sections(session: Session, examination: Examination | None, language: Language) -> Iterator[Section]:
    yield Prose(session.guided.goal.in_(language))
    yield Tasks(_TASKS.in_(language), tuple(_tasks(session, language)))
    predictions = tuple(_predictions(session, language))
    if predictions:
        yield Predictions(predictions)
    if examination is not None:
        evidence = examination.evidence
        yield Packets(with_terms(evidence.walks, evidence.topology), evidence.topology)


def _tasks(session: Session, language: Language) -> Iterator[Task]:
    for step in session.guided.steps:
        if step.kind is not StepKind.PREDICTION:
            kept = session.progress.step(step.id)
            yield Task(step.title.in_(language), _verdict(kept), tuple(_notes(kept, language)))


def _verdict(kept: StepProgress) -> Verdict:
    """What was never tried has not failed."""
    if kept.passed_at:
        return Verdict.PASS
    return Verdict.FAIL if kept.attempts or kept.gave_up else Verdict.SKIP


def _notes(kept: StepProgress, language: Language) -> Iterator[str]:
    if _verdict(kept) is Verdict.SKIP:
        yield _NOT_YET.in_(language)
    if kept.attempts:
        yield words(_ATTEMPTS.en, _ATTEMPTS.zh, n=kept.attempts).in_(language)
    if kept.hints:
        yield words(_HINTS.en, _HINTS.zh, n=kept.hints).in_(language)
    if kept.gave_up:
        yield _GAVE_UP.in_(language)


def _predictions(session: Session, language: Language) -> Iterator[Prediction]:
    for step, given, kept in predictions_over(session):
        if kept.observed is not None:
            yield _prediction(step, given, kept.observed, kept.observed_at, language)
        else:
            yield Prediction((step.ask or step.title).in_(language), given, NOT_OBSERVED.in_(language))


def _prediction(step: Step, given: str, observed: str, where: str, language: Language) -> Prediction:
    asked = (step.ask or step.title).in_(language)
    return Prediction(asked, given, observed + (f" ({where})" if where else ""), agree(step, given, observed))
