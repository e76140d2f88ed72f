"""The proof of a lab (`lvslab lab test`): untouched it fails, the solution passes twice, each mistake trips its check.

What a submission keeps of the solution must earn all points when it is graded: configuration is kept, but neither what
was sent nor a program that runs.

Beside that every check must have failed at least once, on the untouched lab or by a mistake: one that never fails
proves nothing. What is predicted in the solution must be what is then observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lvslab.errors import LvslabError
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, Phase
from lvslab.labs.answers import read_answer
from lvslab.labs.grade import grade_step
from lvslab.labs.judge import Judge, StepOutcome
from lvslab.labs.keyboard import type_lines
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import fresh_lab, open_ready_kernel
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.needs import require_programs, require_schedulers
from lvslab.labs.snapshot import difference, network_facts
from lvslab.labs.solution import Mistake, mistakes_of, solution_of
from lvslab.labs.transcript import Line, Transcript
from lvslab.labs.view import View
from lvslab.verify.result import Verdict

UNDRAWN = ""
"""The seed of the lab without a token."""
_KEPT = "a submission keeps what is configured, not what was sent or runs: let the check make the traffic it needs"


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that was to be proven about a lab, and whether it was. An error is the environment's fault."""

    lab: str
    seed: str
    name: str
    verdict: Verdict
    said: str = ""


@dataclass(slots=True)
class _Student:
    """Works through a running lab with what is typed for it."""

    guided: GuidedLab
    lab: Lab
    answers: dict[str, str] = field(default_factory=dict)

    def type(self, step: Step, transcript: Transcript) -> None:
        def answer(line: Line) -> None:
            self.answers[step.id] = read_answer(step, line.text)

        type_lines(self.lab, transcript.lines, answer)

    def do(self, step: Step) -> None:
        self.type(step, solution_of(self.guided, step.id))

    def judge(self) -> Judge:
        return Judge(self.guided, View(self.lab), self.answers)


def try_labs(
    folders: Sequence[Path], *, seeds: int, kernel: str | None, memory_mib: int, phase: Phase
) -> Iterator[Trial]:
    """Yield what could be proven of so many variants of each lab. Raises BadInput for a lab that cannot be read."""
    variants = [(load_lab(folder, seed), seed) for folder in folders for seed in (UNDRAWN, *map(str, range(1, seeds)))]
    for guided, _ in variants:
        require_programs(guided)
    with open_ready_kernel(kernel, memory_mib=memory_mib) as running:
        for guided, seed in variants:
            require_schedulers(guided, running.kind, running.release)
            yield from try_lab(running, guided, seed, phase)


def try_lab(kernel: RunningKernel, guided: GuidedLab, seed: str, phase: Phase) -> Iterator[Trial]:
    """Yield what could be proven of one variant of a lab, one thing after another."""
    tripped: set[str] = set()
    with phase(f"{guided.id}: untouched"):
        yield from _reported(guided, seed, "untouched", partial(_untouched, kernel, guided, tripped))
    with phase(f"{guided.id}: solution"):
        yield from _reported(guided, seed, "solution", partial(_solved, kernel, guided))
    if seed == UNDRAWN:
        with phase(f"{guided.id}: graded"):
            yield from _reported(guided, seed, "graded", partial(_graded, kernel, guided))
    for mistake in mistakes_of(guided):
        name = f"wrong/{mistake.name}"
        with phase(f"{guided.id}: {name}"):
            yield from _reported(guided, seed, name, partial(_mistaken, kernel, guided, mistake))
        tripped.add(mistake.fails)
    never = [check.id for check in guided.checks if check.id not in tripped]
    said = "" if not never else f"nothing trips {', '.join(never)}: add a mistake to wrong/ that does"
    yield Trial(guided.id, seed, "every check can fail", Verdict.FAIL if never else Verdict.PASS, said)


def _reported(guided: GuidedLab, seed: str, name: str, prove: Callable[[], str]) -> Iterator[Trial]:
    try:
        said = prove()
    except LvslabError as error:
        yield Trial(guided.id, seed, name, Verdict.FAIL if name != "untouched" else Verdict.ERROR, str(error))
        return
    yield Trial(guided.id, seed, name, Verdict.FAIL if said else Verdict.PASS, said)


def _untouched(kernel: RunningKernel, guided: GuidedLab, tripped: set[str]) -> str:
    """Return what is wrong: a step that passes although nothing was done."""
    with fresh_lab(kernel, guided) as lab:
        judge = Judge(guided, View(lab), {})
        passing = []
        for step in guided.steps:
            if step.kind is StepKind.PREDICTION:
                continue
            outcomes = judge.judge_each(step)
            tripped |= {outcome.check for outcome in outcomes if outcome.finding.verdict is Verdict.FAIL}
            broken = [outcome for outcome in outcomes if outcome.finding.verdict is Verdict.ERROR]
            if broken:
                return f"{step.id}: {broken[0].check} cannot be judged: {broken[0].finding.seen.en}"
            if all(outcome.finding.passed for outcome in outcomes):
                passing.append(step.id)
    return f"passes without anything done: {', '.join(passing)}" if passing else ""


def _solved(kernel: RunningKernel, guided: GuidedLab) -> str:
    """Return what is wrong: the first step that does not pass, or that does not pass again."""
    with fresh_lab(kernel, guided) as lab:
        student = _Student(guided, lab)
        for step in guided.steps:
            student.do(step)
            for again in (False, True):
                said = _step_said(student, step)
                if said:
                    return f"{step.id}{', the second time' * again}: {said}"
    return ""


def _graded(kernel: RunningKernel, guided: GuidedLab) -> str:
    """Return what is wrong: the first step that does not pass by what a submission keeps of the solution."""
    snapshots = {}
    with fresh_lab(kernel, guided) as lab:
        student, start = _Student(guided, lab), network_facts(guided, lab)
        for step in guided.steps:
            student.do(step)
            if step.kind is not StepKind.PREDICTION:
                snapshots[step.id] = difference(start, network_facts(guided, lab))
    for step in guided.steps:
        if step.id in snapshots:
            graded = grade_step(kernel, guided, step, snapshots[step.id], student.answers)
            if graded.verdict is not Verdict.PASS:
                return f"{step.id}: passes for the student, but not when graded: {graded.said}; {_KEPT}"
    return ""


def _step_said(student: _Student, step: Step) -> str:
    judge = student.judge()
    if step.kind is StepKind.PREDICTION:
        return "" if step.id in student.answers else "the solution predicts nothing"
    outcome = judge.judge_step(step)
    if not outcome.passed:
        return _failure(outcome)
    for prediction in student.guided.revealed_by(step):
        seen = judge.judge_step(prediction)
        if not seen.agrees:
            observed = seen.observed.value if seen.observed else _failure(seen)
            return f"{prediction.id}: predicted {student.answers.get(prediction.id)}, observed {observed}"
    return ""


def _mistaken(kernel: RunningKernel, guided: GuidedLab, mistake: Mistake) -> str:
    """Return what is wrong: the mistake passes, or trips another check than it is to."""
    with fresh_lab(kernel, guided) as lab:
        student = _Student(guided, lab)
        for step in guided.steps:
            if step.id != mistake.step:
                student.do(step)
                continue
            student.type(step, mistake.transcript)
            outcome = student.judge().judge_step(step)
            failure = outcome.first_failure
            if failure is None:
                return f"{step.id} passes all the same"
            if failure.check != mistake.fails:
                return f"trips {failure.check} instead of {mistake.fails}: {_failure(outcome)}"
            unseen = failure.check == step.id and outcome.observed is None
            if failure.finding.verdict is Verdict.ERROR or unseen:
                return f"{failure.check} cannot be judged: {failure.finding.seen.en}"
            return ""
    return ""


def _failure(outcome: StepOutcome) -> str:
    failure = outcome.first_failure
    if failure is None:
        return ""
    finding = failure.finding
    parts = [f"{failure.check}: expected {finding.expected.en}", f"seen {finding.seen.en}"]
    if finding.cause:
        parts.append(finding.cause.en)
    return ", ".join(parts) + (f" ({finding.where})" if finding.where else "")
