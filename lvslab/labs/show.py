"""What a lab says in the terminal: texts, findings, predictions beside what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.markdown import Heading, Markdown, MarkdownContext, MarkdownElement, Paragraph
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lvslab.kernels.attach import running_labs
from lvslab.labs.answers import agree
from lvslab.labs.judge import CheckOutcome, StepOutcome
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.progress import Progress, StepProgress
from lvslab.labs.session import Session
from lvslab.labs.words import NOTHING, Language, Words, words
from lvslab.report.line_breaks import WideText
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
NOT_OBSERVED = Words("could not be seen in the lab", "在实验中没有看到")
_MOST_FRAMES = 12


class _WideParagraph(Paragraph):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WideText(justify="left")


class _WideHeading(Heading):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WideText(justify="left")


class _WideMarkdown(Markdown):
    """Markdown whose lines end where those of Chinese may."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "paragraph_open": _WideParagraph,
        "heading_open": _WideHeading,
    }


def markdown(text: str, language: Language) -> RenderableType:
    kind = _WideMarkdown if language is Language.CHINESE else Markdown
    return kind(printable(text), code_theme="bw", hyperlinks=False)


def prose(text: str, language: Language, style: str = "") -> Text:
    """Return a text whose lines end where those of the language may."""
    kind = WideText if language is Language.CHINESE else Text
    return kind(printable(text), style=style)


def step_text(guided: GuidedLab, step: Step, language: Language) -> RenderableType:
    """Return a step's part of the text, and what is to be typed next."""
    how = {
        StepKind.TASK: "lvslab lab check",
        StepKind.QUESTION: "lvslab lab answer …",
        StepKind.PREDICTION: "lvslab lab predict …",
    }
    parts: list[RenderableType] = [markdown(guided.instructions[language].steps.get(step.id, ""), language), Text()]
    if step.ask is not None:
        parts.append(prose(f"? {step.ask.in_(language)}", language, "bold"))
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
    parts.append(prose(line.in_(language), language, "dim"))
    return Group(*parts)


def outcome_lines(outcome: StepOutcome, language: Language) -> RenderableType:
    """Return one judged step: a line per check, and for what did not pass everything that is known."""
    return Group(*_outcome(outcome, language))


def _outcome(outcome: StepOutcome, language: Language) -> Iterator[RenderableType]:
    for check in outcome.checks:
        yield _line(check, language)
        if not check.finding.passed:
            yield _pairs(_particulars(check, language), language)


def _line(check: CheckOutcome, language: Language) -> Text:
    finding = check.finding
    text = prose("", language).append(f"{SIGNS[finding.verdict]} ", style=STYLES[finding.verdict])
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
        ("frames", _frames(finding.frames)),
    )
    yield from ((_LABELS[label].in_(language), text) for label, text in parts if text)


def _frames(numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    listed = " ".join(map(str, numbers[:_MOST_FRAMES])) + " …" * (len(numbers) > _MOST_FRAMES)
    return f"{listed} (lvslab lab check --pcap FILE)"


def _pairs(pairs: Iterable[tuple[str, str]], language: Language) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in pairs:
        grid.add_row(label, prose(text, language))
    return Padding(grid, (0, 0, 0, 2))


def comparison(step: Step, given: str, observed: str, where: str, language: Language) -> RenderableType:
    """Return a prediction beside what was then seen."""
    same = agree(step, given, observed)
    sign = Text("= " if same else "≠ ", style="green" if same else "yellow")
    asked = (step.ask or step.title).in_(language)
    seen = observed + (f"  ({where})" if where else "")
    pairs = [(_LABELS["predicted"].in_(language), given), (_LABELS["observed"].in_(language), seen)]
    return Group(prose("", language).append_text(sign).append(printable(asked), style="bold"), _pairs(pairs, language))


def without_comparison(outcome: StepOutcome, given: str, language: Language) -> RenderableType:
    """Return a prediction that could not be compared with anything, and why."""
    failure = outcome.first_failure
    found: list[tuple[str, str]] = []
    if failure is not None:
        finding = failure.finding
        found.append((_LABELS["observed"].in_(language), finding.seen.in_(language)))
        found += [(_LABELS["where"].in_(language), finding.where)] * bool(finding.where)
        found += [("", _NOT_YOURS.in_(language))] * (finding.verdict is Verdict.ERROR)
    return _unseen(outcome.step, given, found, language)


def not_observed(step: Step, given: str, language: Language) -> RenderableType:
    """Return a prediction whose task is done, and of which nothing was observed then."""
    return _unseen(step, given, [(_LABELS["observed"].in_(language), NOT_OBSERVED.in_(language))], language)


def _unseen(step: Step, given: str, found: Sequence[tuple[str, str]], language: Language) -> RenderableType:
    asked = (step.ask or step.title).in_(language)
    pairs = [(_LABELS["predicted"].in_(language), given), *found]
    return Group(prose("? ", language, "yellow").append(printable(asked), style="bold"), _pairs(pairs, language))


def summary(session: Session, language: Language, *, up: bool) -> RenderableType:
    """Return one line: steps done, points, and whether the network is up."""
    kept = [session.progress.step(step.id) for step in session.guided.steps]
    line = words(
        "{done}, {points}/{of} points; {network}: {state}",
        "{done}，{points}/{of} 分；{network}：{state}",
        done=steps_done(sum(step.done for step in kept), len(kept), sum(map(was_given_up, kept))),
        points=session.points,
        of=session.guided.points,
        network=session.network,
        state=words("up", "已启动") if up else words("down", "未启动"),
    )
    return prose(line.in_(language), language)


def was_given_up(kept: StepProgress) -> bool:
    return kept.gave_up and kept.passed_at is None


def steps_done(done: int, of: int, given_up: int) -> Words:
    """Say how many steps are done, and how many of these were given up."""
    left = words(" ({n} given up)", "（其中放弃 {n} 步）", n=given_up) if given_up else NOTHING
    return words("{done}/{of} steps{left}", "{done}/{of} 步{left}", done=done, of=of, left=left)


def whereabouts(session: Session, language: Language) -> Iterator[RenderableType]:
    """Yield where the lab runs, how its nodes are reached, and what to do where other labs are up too."""
    up = running_labs()
    nodes = " ".join(node.name for node in session.guided.topology.nodes)
    for record in (record for record in up if record.name == session.network):
        where = words("kernel: {kernel}", "内核：{kernel}", kernel=f"{record.kernel} {record.release}")
        yield prose(where.in_(language), language, "dim")
    others = [record.name for record in up if record.name != session.network]
    option = f"--lab {session.network} " if others else ""
    yield Text(f"lvslab shell {option}NODE: {nodes}")
    if others:
        line = words(
            "also up: {others}. With several labs up, lvslab exec and lvslab shell need --lab NAME; "
            "lvslab down NAME ends one.",
            "同时还有：{others}。有多个实验在运行时，lvslab exec 和 lvslab shell 需要 --lab NAME；"
            "用 lvslab down NAME 结束其中一个。",
            others=" ".join(others),
        )
        yield prose(line.in_(language), language, "yellow")


def status_table(guided: GuidedLab, progress: Progress, language: Language) -> RenderableType:
    """Return each step with a sign: done, given up, here, or still to come."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for step in guided.steps:
        done = progress.step(step.id)
        sign = "✓" if done.passed_at else "–" if done.gave_up else "▸" if step.id == progress.position else "·"
        points = "" if step.kind is StepKind.PREDICTION else f"{step.points if done.passed_at else 0}/{step.points}"
        table.add_row(sign, Text(step.id), Text(printable(step.title.in_(language))), points)
    return table
