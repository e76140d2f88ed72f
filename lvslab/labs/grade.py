"""Grading: each step of each submission done again on a fresh network, and judged there."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import BadInput, LvslabError
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, Phase
from lvslab.labs.judge import Judge
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import fresh_lab
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.replay import ForeignCommandError, retyped
from lvslab.labs.snapshot import Snapshot
from lvslab.labs.submission import Submission, read_submission
from lvslab.labs.variants import student_token
from lvslab.labs.view import View
from lvslab.verify.result import Verdict

SCRIPT_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class StepGrade:
    step: str
    verdict: Verdict
    points: int
    of: int
    said: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """One submission, graded. An error in a step is ours or the environment's: it is to be graded again."""

    source: str
    lab: str
    student: str
    steps: tuple[StepGrade, ...]
    refused: str = ""
    """Why it was not graded at all; empty if it was."""
    hints: int = 0

    @property
    def points(self) -> int:
        return sum(step.points for step in self.steps)

    @property
    def of(self) -> int:
        return sum(step.of for step in self.steps)

    @property
    def verdict(self) -> Verdict:
        if self.refused:
            return Verdict.FAIL
        return Verdict.of(step.verdict for step in self.steps)


def read_all(paths: Sequence[Path]) -> tuple[list[Submission], list[Grade]]:
    """Return the submissions, and the grades of files that are none. Raises BadInput if there is nothing else."""
    submissions: list[Submission] = []
    refused: list[tuple[Path, BadInput]] = []
    for path in paths:
        try:
            submissions.append(read_submission(path))
        except BadInput as error:
            refused.append((path, error))
    if refused and not submissions:
        raise refused[0][1]
    return submissions, [Grade(str(path), "", "", (), str(error)) for path, error in refused]


def grade_all(
    open_kernel: Callable[[], AbstractContextManager[RunningKernel]],
    submissions: Sequence[Submission],
    secret: bytes | None,
    labs: Path,
    phase: Phase,
) -> Iterator[Grade]:
    """Yield one grade per submission; with the course's secret its token must be the student's own.

    `labs` is the folder that the labs are in: the instructor's, not the one a submission may name. After an error the
    next submission gets a kernel of its own: the one before may have ended.
    """
    waiting = list(submissions)
    while waiting:
        with open_kernel() as kernel:
            while waiting:
                submission = waiting.pop(0)
                with phase(submission.source):
                    graded = grade(kernel, submission, secret, labs)
                yield graded
                if graded.verdict is Verdict.ERROR:
                    break


def grade(kernel: RunningKernel, submission: Submission, secret: bytes | None, labs: Path) -> Grade:
    progress = submission.progress
    hints = sum(step.hints for step in progress.steps.values())
    refused = refusal(submission, secret)
    if refused:
        return Grade(submission.source, progress.lab, progress.student, (), refused, hints)
    try:
        guided = load_lab(labs / progress.lab, progress.token)
    except BadInput as error:
        return Grade(submission.source, progress.lab, progress.student, (), str(error), hints)
    steps = tuple(
        grade_step(kernel, guided, step, submission.steps.get(step.id), progress.answers)
        for step in guided.steps
        if step.kind is not StepKind.PREDICTION
    )
    return Grade(submission.source, guided.id, progress.student, steps, "", hints)


def refusal(submission: Submission, secret: bytes | None) -> str:
    """Return why a submission is not graded at all; empty if it is."""
    progress = submission.progress
    if "/" in progress.lab or progress.lab in ("", ".", ".."):
        return "its lab is no name"
    if secret is None:
        return ""
    if not hmac.compare_digest(student_token(secret, progress.student).encode(), progress.token.encode()):
        return f"its token is not that of {progress.student or 'a student without a name'}"
    return ""


def grade_step(
    kernel: RunningKernel, guided: GuidedLab, step: Step, snapshot: Snapshot | None, answers: Mapping[str, str]
) -> StepGrade:
    """Judge a step on a fresh network in which the snapshot's commands have been run."""
    if snapshot is None:
        return StepGrade(step.id, Verdict.FAIL, 0, step.points, "not done")
    try:
        with fresh_lab(kernel, guided) as lab:
            said = _repeat(lab, snapshot)
            if said:
                return StepGrade(step.id, Verdict.FAIL, 0, step.points, said)
            outcome = Judge(guided, View(lab), answers).judge_step(step)
    except LvslabError as error:
        return StepGrade(step.id, Verdict.ERROR, 0, step.points, str(error))
    failure = outcome.first_failure
    said = f"{failure.check}: seen {failure.finding.seen.en}" if failure else ""
    return StepGrade(step.id, outcome.verdict, step.points if outcome.passed else 0, step.points, said)


def _repeat(lab: Lab, snapshot: Snapshot) -> str:
    """Run a student's commands; return what is wrong with them."""
    for node, script in snapshot.scripts.items():
        if node not in lab.nodes:
            return f"the lab has no node {node!r}"
        try:
            commands = retyped(script)
        except ForeignCommandError as error:
            return f"{node}: no command that lvslab lab submit writes: {str(error)[:200]!r}"
        finished = lab.node(node).run("bash", "-e", "-c", commands, timeout_s=SCRIPT_TIMEOUT_S)
        if finished.status:
            return f"{node}: a command failed: {' '.join(finished.output.split())[:200]}"
    return ""
