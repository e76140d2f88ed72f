"""The student's loop: a lab that is up, how far the student has come, and what each command does to both."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from lvslab import running
from lvslab.capture.frame import Capture
from lvslab.errors import BadInput, CannotRun
from lvslab.kernels.attach import LabRecord, labs, stop
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.lab import Lab, Phase, quiet
from lvslab.labs.answers import read_answer
from lvslab.labs.judge import Judge, StepOutcome
from lvslab.labs.keyboard import type_lines
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import fresh_lab, open_ready_kernel, set_up
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.needs import require_programs, require_schedulers
from lvslab.labs.progress import (
    Progress,
    StepProgress,
    current_lab,
    progress_locked,
    read_progress,
    set_aside,
    write_progress,
)
from lvslab.labs.shipped import find_lab_folder
from lvslab.labs.snapshot import forget_steps, remember_start, remember_step
from lvslab.labs.solution import solution_of
from lvslab.labs.transcript import Line
from lvslab.labs.view import View


@dataclass(frozen=True, slots=True)
class Session:
    """A lab that was begun."""

    guided: GuidedLab
    progress: Progress

    @property
    def here(self) -> Step:
        """The step the student is at."""
        return self.guided.step(self.progress.position)

    @property
    def network(self) -> str:
        """What the running lab is called."""
        return network_name(self.guided.id)

    @property
    def points(self) -> int:
        """What the steps that passed are worth."""
        return sum(step.points for step in self.guided.steps if self.progress.step(step.id).passed_at)

    @property
    def finished(self) -> bool:
        return all(self.progress.step(step.id).done for step in self.guided.steps)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check said, and the predictions that can be seen now: step, given, observed, where."""

    session: Session
    outcome: StepOutcome
    revealed: tuple[StepOutcome, ...] = ()
    capture: Capture | None = None
    """Of the lab's usual calls, if they were made: what the frame numbers are about."""


def network_name(lab_id: str) -> str:
    return f"lab-{lab_id}"


def begin(
    wanted: str,
    *,
    student: str = "",
    token: str = "",
    again: bool = False,
    kernel: str | None = None,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    language: str = "",
    phase: Phase = quiet,
) -> Session:
    """Begin a lab, or go on where it was left; its network is then up. Raises BadInput, CannotRun, KernelFault."""
    folder = find_lab_folder(wanted)
    with progress_locked(folder.name):
        if again:
            _stop_network(folder.name)
            set_aside(folder.name)
            forget_steps(folder.name)
        kept = read_progress(folder.name)
        progress = kept or Progress(folder.name, str(folder), student, token, time.time())
        _refuse_other(progress, folder, student, token)
        guided = load_lab(folder, progress.token)
        if progress.position not in {step.id for step in guided.steps}:
            progress = replace(progress, position=guided.steps[0].id)
        progress = replace(progress, language=language or progress.language)
        session = Session(guided, progress)
        record = _record(session)
        if record is None or record.folder != progress.network:
            _stop_network(guided.id)
            require_programs(guided)
            session = _brought_up(session, kernel=kernel, memory_mib=memory_mib, phase=phase)
        write_progress(session.progress)
    return session


def _refuse_other(progress: Progress, folder: Path, student: str, token: str) -> None:
    asked = (student or progress.student, token or progress.token)
    if asked != (progress.student, progress.token):
        raise BadInput(
            "this lab was begun by another student, or with another token",
            where=folder.name,
            found=progress.student or "nobody's name",
            next_step="go on without --student and --token, or begin it anew with --again",
        )
    if str(folder) != progress.folder:
        raise BadInput(
            "a lab of this name was begun from another folder",
            where=str(folder),
            found=progress.folder,
            next_step="begin it anew with --again",
        )


def open_session(wanted: str | None = None) -> Session:
    """Return the lab of a name, or the one last worked on. Raises BadInput."""
    lab_id = current_lab() if wanted is None else find_lab_folder(wanted).name
    progress = read_progress(lab_id) if lab_id else None
    if progress is None:
        raise BadInput("no lab has been begun", where=wanted, next_step="lvslab lab list, then lvslab lab start ID")
    return Session(load_lab(Path(progress.folder), progress.token), progress)


def _record(session: Session) -> LabRecord | None:
    return next((record for record in labs() if record.name == session.network), None)


@contextmanager
def network_of(session: Session) -> Iterator[Lab]:
    """Use the lab's running network. Raises CannotRun if it is not up."""
    record = _record(session)
    if record is None or record.folder != session.progress.network:
        raise CannotRun(
            "the lab's network is not up",
            where=session.guided.id,
            next_step=f"lvslab lab start {session.guided.id} brings it up; your progress is kept",
        )
    with running.attached(record) as lab:
        yield lab


def _brought_up(session: Session, *, kernel: str | None, memory_mib: int, phase: Phase) -> Session:
    """Build the network as it is at the start, and do again what was done, by the lab's own solution.

    What cannot be made ready is not left.
    """
    guided = session.guided
    record = running.up(guided.topology, name=session.network, kernel=kernel, memory_mib=memory_mib, phase=phase)
    try:
        require_schedulers(guided, record.kernel, record.release)
        with running.attached(record) as lab:
            set_up(lab, guided)
            remember_start(guided, lab)
            _do_again(session, lab, phase)
    except BaseException:
        stop(record)
        raise
    return replace(session, progress=replace(session.progress, network=record.folder))


def _do_again(session: Session, lab: Lab, phase: Phase) -> None:
    for step in worked_through(session.guided, session.progress):
        with phase(f"{session.guided.id}: {step.id} again"):
            type_lines(lab, solution_of(session.guided, step.id).lines, _nothing_to_answer)


def worked_through(guided: GuidedLab, progress: Progress) -> tuple[Step, ...]:
    """Return the steps before the present one that are done and may have changed the network: questions do, too."""
    before = takewhile(lambda step: step.id != progress.position, guided.steps)
    return tuple(step for step in before if step.kind is not StepKind.PREDICTION and progress.step(step.id).done)


def _nothing_to_answer(_line: Line) -> None:
    """A solution says what to answer, too: the student's own answer is kept already."""


def _stop_network(lab_id: str) -> bool:
    record = next((record for record in labs() if record.name == network_name(lab_id)), None)
    if record is None:
        return False
    stop(record)
    return True


def end(session: Session) -> bool:
    """Take the lab's network down; progress stays. Return whether it was up."""
    return _stop_network(session.guided.id)


def reset(session: Session, *, everything: bool, kernel: str | None = None, phase: Phase = quiet) -> Session:
    """Build the network anew, as it should be where the student is, or with `everything` as at the beginning."""
    with progress_locked(session.guided.id):
        _stop_network(session.guided.id)
        if everything:
            set_aside(session.guided.id)
            forget_steps(session.guided.id)
            fresh = Progress(
                session.guided.id,
                session.progress.folder,
                session.progress.student,
                session.progress.token,
                time.time(),
                session.guided.steps[0].id,
                language=session.progress.language,
            )
            session = replace(session, progress=fresh)
        session = _brought_up(session, kernel=kernel, memory_mib=DEFAULT_MEMORY_MIB, phase=phase)
        write_progress(session.progress)
    return session


def commit_answer(session: Session, text: str, kind: StepKind) -> Session:
    """Keep the answer to the question, or the prediction, that the student is at. Raises BadInput."""
    step = session.here
    if step.kind is not kind:
        verbs = {StepKind.TASK: "check", StepKind.QUESTION: "answer …", StepKind.PREDICTION: "predict …"}
        raise BadInput(
            f"the lab is at a {_kind_name(step.kind)} now",
            where=step.id,
            next_step=f"lvslab lab {verbs[step.kind]}",
        )
    answer = read_answer(step, text)
    if kind is StepKind.PREDICTION and session.progress.step(step.id).answer is not None:
        raise BadInput("a prediction stands once it is made", where=step.id, next_step="lvslab lab next")
    changes = {"answer": answer} | ({"passed_at": time.time()} if kind is StepKind.PREDICTION else {})
    return _kept(session, session.progress.with_step(step.id, **changes))


def _kind_name(kind: StepKind) -> str:
    return {StepKind.TASK: "task", StepKind.QUESTION: "question", StepKind.PREDICTION: "prediction"}[kind]


def check(session: Session) -> Checked:
    """Judge the step the student is at, keep what came of it, and uncover the predictions it answers."""
    step = session.here
    progress = session.progress
    with network_of(session) as lab:
        view = View(lab)
        judge = Judge(session.guided, view, progress.answers)
        outcome = judge.judge_step(step)
        done = progress.step(step.id)
        if outcome.passed:
            if step.kind is not StepKind.PREDICTION:
                remember_step(session.guided, step.id, lab)
            changes: dict[str, object] = {} if done.passed_at else {"passed_at": time.time()}
        else:
            changes = {"attempts": done.attempts + (outcome.verdict.value == "fail")}
        progress = progress.with_step(step.id, **changes)
        revealed = []
        for prediction in session.guided.revealed_by(step) if outcome.passed else ():
            seen = judge.judge_step(prediction)
            revealed.append(seen)
            progress = _with_observed(progress, seen)
    return Checked(_kept(session, progress), outcome, tuple(revealed), view.kept_capture)


def _place(outcome: StepOutcome) -> str:
    observed = outcome.observed
    if observed is None:
        return ""
    return observed.where + (f" #{observed.frames[0]}" if observed.frames else "")


def hint(session: Session) -> tuple[Session, int]:
    """Uncover one more hint of this step; return how many are uncovered now."""
    step = session.here
    shown = min(len(step.hints), session.progress.step(step.id).hints + 1)
    return _kept(session, session.progress.with_step(step.id, hints=shown)), shown


def give_up(session: Session, *, phase: Phase = quiet) -> tuple[Session, tuple[StepOutcome, ...]]:
    """Keep that the step was given up; return what becomes of the predictions that it would have answered.

    They are observed in a network of their own, solved up to here: the student's own does not show it.

    Raises CannotRun, KernelFault.
    """
    step = session.here
    session = _kept(session, session.progress.with_step(step.id, gave_up=True))
    kept = session.progress
    waiting = [each for each in session.guided.revealed_by(step) if kept.step(each.id).answer is not None]
    if not waiting:
        return session, ()
    with phase("what you predicted, in a network solved up to here"):
        seen = _seen_when_solved(session, waiting)
    progress = kept
    for outcome in seen:
        progress = _with_observed(progress, outcome)
    return _kept(session, progress), seen


def _seen_when_solved(session: Session, predictions: Sequence[Step]) -> tuple[StepOutcome, ...]:
    record = _record(session)
    kernel = None if record is None else record.kernel + f":{record.release}" * (record.kernel == "uml")
    with (
        open_ready_kernel(kernel, memory_mib=DEFAULT_MEMORY_MIB) as running_kernel,
        fresh_lab(running_kernel, session.guided) as lab,
    ):
        for step in session.guided.steps:
            if step.kind is not StepKind.PREDICTION:
                type_lines(lab, solution_of(session.guided, step.id).lines, _nothing_to_answer)
            if step.id == session.here.id:
                break
        return Judge(session.guided, View(lab), session.progress.answers).judge(predictions)


def _with_observed(progress: Progress, outcome: StepOutcome) -> Progress:
    if outcome.observed is None:
        return progress
    return progress.with_step(outcome.step.id, observed=outcome.observed.value, observed_at=_place(outcome))


def advance(session: Session) -> Session:
    """Go on to the next step. Raises BadInput if this one is not done."""
    step = session.here
    if not session.progress.step(step.id).done:
        verb = "predict …" if step.kind is StepKind.PREDICTION else "check"
        raise BadInput(
            "no prediction has been made yet" if step.kind is StepKind.PREDICTION else "this step is not done yet",
            where=f"step {step.id}",
            next_step=f"lvslab lab {verb}, or give it up with lvslab lab solution --give-up",
        )
    place = session.guided.steps.index(step) + 1
    if place == len(session.guided.steps):
        raise BadInput("this was the last step", where=session.guided.id, next_step="lvslab lab status")
    return _kept(session, replace(session.progress, position=session.guided.steps[place].id))


def _kept(session: Session, progress: Progress) -> Session:
    """Write the progress down: only the step that changed, since another command may have changed another."""
    with progress_locked(session.guided.id):
        stored = read_progress(session.guided.id) or progress
        before = session.progress
        changed: dict[str, StepProgress] = {
            step_id: step for step_id, step in progress.steps.items() if before.steps.get(step_id) != step
        }
        position = progress.position if progress.position != before.position else stored.position
        merged = replace(stored, steps={**stored.steps, **changed}, position=position)
        write_progress(merged)
    return replace(session, progress=merged)
