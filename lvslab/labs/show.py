"""What a lab says in the terminal: texts, findings, predictions beside what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lvslab.labs.answers import agree
from lvslab.labs.judge import CheckOutcome, StepOutcome
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.progress import Progress
from lvslab.labs.words import Language, Words, words
from lvslab.report.printable import printable
from lvslab.report.signs import SIGNS, STYLES
from lvslab.verify.result import Verdict

_LABELS = {
    "where": Words("where", "位置"),
    "expected": Words("expected", "应当"),
    "seen": Words("seen", "看到"),
    "cause": Words("cause", "原因"),
    "why": Words("why", "为什么"),
    "next": Words("next", "下一步"),
    "frames": Words("frames", "帧"),
    "predicted": Words("predicted", "预测"),
    "observed": Words("observed", "实际"),
}
_NOT_YOURS = Words("this is not your fault: it could not be judged", "这不是你的错：无法判定")
_MOST_FRAMES = 12


def markdown(text: str) -> RenderableType:
    return Markdown(printable(text), code_theme="bw", hyperlinks=False)


def step_text(guided: GuidedLab, step: Step, language: Language) -> RenderableType:
    """Return a step's part of the text, and what is to be typed next."""
    how = {
        StepKind.TASK: "lvslab lab check",
        StepKind.QUESTION: "lvslab lab answer …",
        StepKind.PREDICTION: "lvslab lab predict …",
    }
    parts: list[RenderableType] = [markdown(guided.instructions[language].steps.get(step.id, ""))]
    if step.ask is not None:
        parts.append(Text(printable(f"? {step.ask.in_(language)}"), style="bold"))
    if step.choices:
        parts.append(Text(printable("  " + " · ".join(step.choices))))
    number = guided.steps.index(step) + 1
    line = words(
        "step {n} of {all}; then: {how}",
        "第 {n} 步，共 {all} 步；然后：{how}",
        n=number,
        all=len(guided.steps),
        how=how[step.kind],
    )
    parts.append(Text(line.in_(language), style="dim"))
    return Group(*parts)


def outcome_lines(outcome: StepOutcome, language: Language) -> RenderableType:
    """Return one judged step: a line per check, and for what did not pass everything that is known."""
    return Group(*_outcome(outcome, language))


def _outcome(outcome: StepOutcome, language: Language) -> Iterator[RenderableType]:
    for check in outcome.checks:
        yield _line(check, language)
        if not check.finding.passed:
            yield _pairs(_particulars(check, language))


def _line(check: CheckOutcome, language: Language) -> Text:
    finding = check.finding
    text = Text(f"{SIGNS[finding.verdict]} ", style=STYLES[finding.verdict])
    said = finding.expected.in_(language)
    where = f"  [{finding.where}]" if finding.passed and finding.where else ""
    return text.append(printable(f"{said}{where}"), style="" if finding.passed else "bold")


def _particulars(check: CheckOutcome, language: Language) -> Iterator[tuple[str, str]]:
    finding = check.finding
    if finding.verdict is Verdict.ERROR:
        yield "", _NOT_YOURS.in_(language)
    parts = (
        ("where", finding.where),
        ("seen", finding.seen.in_(language)),
        ("cause", finding.cause.in_(language)),
        ("why", check.why.in_(language)),
        ("next", finding.next.in_(language)),
        ("frames", " ".join(map(str, finding.frames[:_MOST_FRAMES])) + " …" * (len(finding.frames) > _MOST_FRAMES)),
    )
    yield from ((_LABELS[label].in_(language), text) for label, text in parts if text)


def _pairs(pairs: Iterable[tuple[str, str]]) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in pairs:
        grid.add_row(label, Text(printable(text)))
    return Padding(grid, (0, 0, 0, 2))


def comparison(step: Step, given: str, observed: str, where: str, language: Language) -> RenderableType:
    """Return a prediction beside what was then seen."""
    same = agree(step, given, observed)
    sign = Text("= " if same else "≠ ", style="green" if same else "yellow")
    asked = (step.ask or step.title).in_(language)
    seen = observed + (f"  ({where})" if where else "")
    pairs = [(_LABELS["predicted"].in_(language), given), (_LABELS["observed"].in_(language), seen)]
    return Group(sign.append(printable(asked), style="bold"), _pairs(pairs))


def status_table(guided: GuidedLab, progress: Progress, language: Language) -> RenderableType:
    """Return each step with a sign: done, given up, here, or still to come."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for step in guided.steps:
        done = progress.step(step.id)
        sign = "✓" if done.passed_at else "–" if done.gave_up else "▸" if step.id == progress.position else "·"
        points = "" if step.kind is StepKind.PREDICTION else f"{step.points if done.passed_at else 0}/{step.points}"
        table.add_row(sign, Text(step.id), Text(printable(step.title.in_(language))), points)
    return table
