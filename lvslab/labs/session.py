"""The student's loop: a lab that is up, how far the student has come, and what each command does to both."""

from __future__ import annotations

import shlex
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
from lvslab.kernels.choose import choose_kernel, split
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.lab import Lab, Phase, quiet
from lvslab.labs.answers import read_answer
from lvslab.labs.judge import Judge, StepOutcome
from lvslab.labs.keyboard import type_lines
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import fresh_lab, open_ready_kernel, set_up
from lvslab.labs.model import GuidedLab, Step, StepKind
from lvslab.labs.needs import require_programs, require_schedulers
from lvslab.labs.plain_text import require_plain
from lvslab.labs.progress import (
    Progress,
    StepProgress,
    current_lab,
    is_lab_id,
    network_name,
    progress_locked,
    read_progress,
    remember_network,
    remembered_network,
    setting_aside,
    start_command,
    write_progress,
)
from lvslab.labs.shipped import DOCUMENT, find_lab_folder, shipped_labs
from lvslab.labs.snapshot import remember_start, remember_step
from lvslab.labs.solution import solution_of
from lvslab.labs.transcript import Line
from lvslab.labs.view import View

_VERBS = {StepKind.TASK: "check", StepKind.QUESTION: "answer …", StepKind.PREDICTION: "predict …"}
"""How each kind of step is done: verbs of `lvslab lab`."""


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
    """Begin a lab, or go on where it was left; its network is then up. Raises BadInput, CannotRun, KernelFault.

    With `again` it begins anew; what was kept is set aside once the new network is up, and not before.
    """
    folder = find_lab_folder(wanted)
    _refuse_names(folder, student, token)
    if kernel is not None:
        choose_kernel(kernel)  # also where the network is up, and needs none
    with progress_locked(folder.name):
        kept = None if again else read_progress(folder.name)
        progress = kept or Progress(folder.name, str(folder), student, token, time.time())
        _refuse_other(progress, folder, student, token)
        progress = replace(progress, folder=str(folder), language=language or progress.language)
        guided = load_lab(folder, progress.token)
        session = Session(guided, _placed(guided, progress))
        if not network_is_up(session):
            session = _brought_up(session, kernel=kernel, memory_mib=memory_mib, phase=phase)
        _write(session.progress, anew=again)
    return session


def _refuse_names(folder: Path, student: str, token: str) -> None:
    if not is_lab_id(folder.name) or str(folder).encode(errors="replace").decode() != str(folder):
        raise BadInput(
            "no folder for a lab: its network is called after it",
            where=repr(str(folder)),
            expected="a last part of letters, digits, dots, hyphens and underscores, at most 59, in a path of UTF-8",
        )
    require_plain(student, "student's id")
    require_plain(token, "token")


def _refuse_other(progress: Progress, folder: Path, student: str, token: str) -> None:
    asked = (student or progress.student, token or progress.token)
    anew = f"{start_command(folder.name, str(folder))} --again begins it anew, and sets aside what was kept"
    if asked != (progress.student, progress.token):
        raise BadInput(
            "this lab was begun by another student, or with another token",
            where=folder.name,
            found=progress.student or "nobody's name",
            next_step=f"go on without --student and --token; or {anew}",
        )
    if str(folder) != progress.folder and _is_lab(Path(progress.folder)):
        raise BadInput(
            "a lab of this name was begun from another folder",
            where=str(folder),
            found=progress.folder,
            next_step=f"lvslab lab start {shlex.quote(progress.folder)} goes on with that; {anew}",
        )


def _is_lab(folder: Path) -> bool:
    return (folder / DOCUMENT).is_file()


def _placed(guided: GuidedLab, progress: Progress) -> Progress:
    """Return progress at a step that the lab has: a newer one may have other steps than the lab that was begun."""
    if progress.position in {step.id for step in guided.steps}:
        return progress
    undone = (step for step in guided.steps if not progress.step(step.id).done)
    return replace(progress, position=next(undone, guided.steps[-1]).id)


def _write(progress: Progress, *, anew: bool) -> None:
    if not anew:
        write_progress(progress)
        return
    with setting_aside(progress.lab):
        write_progress(progress)


def open_session(wanted: str | None = None) -> Session:
    """Return the lab of a name, or the one last worked on. Raises BadInput, CannotRun."""
    lab_id = _lab_id(wanted)
    progress = read_progress(lab_id) if lab_id else None
    if progress is None:
        raise _never_begun(wanted)
    folder = _folder_of(progress)
    guided = load_lab(folder, progress.token)
    return Session(guided, _placed(guided, replace(progress, folder=str(folder))))


def _lab_id(wanted: str | None) -> str | None:
    return current_lab() if wanted is None else find_lab_folder(wanted).name


def _never_begun(wanted: str | None) -> BadInput:
    return BadInput("no lab has been begun", where=wanted, next_step="lvslab lab list, then lvslab lab start ID")


def _folder_of(progress: Progress) -> Path:
    """Return where the lab is; one that comes with lvslab may have moved with it. Raises BadInput."""
    begun = Path(progress.folder)
    if _is_lab(begun):
        return begun
    for folder in shipped_labs():
        if folder.name == progress.lab:
            return folder
    raise BadInput(
        "the lab's folder is not there any more",
        where=progress.folder,
        next_step=f"lvslab lab start FOLDER/{progress.lab}, where it is now, goes on with it: what you did is kept",
    )


def _record(session: Session) -> LabRecord | None:
    return next((record for record in labs() if record.name == session.network), None)


def _start_command(session: Session) -> str:
    return start_command(session.guided.id, str(session.guided.folder))


def network_is_up(session: Session) -> bool:
    """Tell whether the lab's own network is up, whatever else may have its name."""
    return _own_record(session) is not None


def _own_record(session: Session) -> LabRecord | None:
    record = _record(session)
    return record if record is not None and record.folder == session.progress.network else None


@contextmanager
def network_of(session: Session) -> Iterator[Lab]:
    """Use the lab's running network. Raises CannotRun if it is not up."""
    record = _own_record(session)
    if record is None:
        raise CannotRun(
            "the lab's network is not up",
            where=session.guided.id,
            next_step=f"{_start_command(session)} brings it up; your progress is kept",
        )
    with running.attached(record) as lab:
        yield lab


def _brought_up(session: Session, *, kernel: str | None, memory_mib: int, phase: Phase) -> Session:
    """Build the network as it is at the start, and do again what was done, by the lab's own solution.

    What can be known before is looked at before the present network is stopped; what cannot be made ready is not left.
    """
    guided = session.guided
    require_programs(guided)
    require_schedulers(guided, *split(choose_kernel(kernel)))
    _stop_network(guided.id)
    record = running.up(guided.topology, name=session.network, kernel=kernel, memory_mib=memory_mib, phase=phase)
    try:
        remember_network(guided.id, record.folder)
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


def predictions_over(session: Session) -> Iterator[tuple[Step, str, StepProgress]]:
    """Yield each prediction of which something was observed, or whose task is done without: step, answer, the rest."""
    for step in session.guided.steps:
        kept = session.progress.step(step.id)
        if kept.answer is None or not step.reveal:
            continue
        if kept.observed is not None or session.progress.step(step.reveal).done:
            yield step, kept.answer, kept


def worked_through(guided: GuidedLab, progress: Progress) -> tuple[Step, ...]:
    """Return the steps before the present one that are done and may have changed the network: questions do, too."""
    before = takewhile(lambda step: step.id != progress.position, guided.steps)
    return tuple(step for step in before if step.kind is not StepKind.PREDICTION and progress.step(step.id).done)


def _nothing_to_answer(_line: Line) -> None:
    """A solution says what to answer, too: the student's own answer is kept already."""


def _stop_network(lab_id: str) -> bool:
    """Take down the lab's own network; return whether it was up. Raises BadInput if another has its name."""
    record = next((record for record in labs() if record.name == network_name(lab_id)), None)
    if record is None:
        return False
    if record.folder not in _own_networks(lab_id):
        raise BadInput(
            "something else is up under the name of this lab's network, and is left alone",
            where=record.name,
            found=f"topology {record.topology}",
            next_step=f"lvslab down {record.name} ends it",
        )
    stop(record)
    return True


def _own_networks(lab_id: str) -> set[str | None]:
    """Return the folders of the network that was ready, and of one that a start cut short has left."""
    try:
        progress = read_progress(lab_id)
    except (BadInput, CannotRun):
        progress = None  # the other is enough to stop a lab whose progress cannot be read
    return {progress.network if progress else None, remembered_network(lab_id)}


def end(wanted: str | None = None) -> tuple[str, bool]:
    """Take a lab's network down; progress stays, and need not be readable. Return its name and whether it was up.

    Raises BadInput, CannotRun, KernelFault.
    """
    lab_id = _lab_id(wanted)
    if lab_id is None:
        raise _never_begun(wanted)
    return network_name(lab_id), _stop_network(lab_id)


def reset(session: Session, *, everything: bool, kernel: str | None = None, phase: Phase = quiet) -> Session:
    """Build the network anew, as it should be where the student is, or with `everything` as at the beginning."""
    with _locked(session) as now:
        begun = replace(now, progress=_fresh(now)) if everything else now
        built = _brought_up(begun, kernel=kernel, memory_mib=DEFAULT_MEMORY_MIB, phase=phase)
        _write(built.progress, anew=everything)
    return built


def _fresh(session: Session) -> Progress:
    """Return the beginning of the same student's way."""
    return replace(session.progress, begun_at=time.time(), position=session.guided.steps[0].id, steps={})


@contextmanager
def _locked(session: Session) -> Iterator[Session]:
    """Give the session as another command may have left it by now, and let no other change it meanwhile."""
    with progress_locked(session.guided.id):
        yield replace(session, progress=_stored(session))


def _stored(session: Session) -> Progress:
    """Return what is kept now. Raises BadInput if it is no more the way that the session is about."""
    stored = read_progress(session.guided.id)
    if stored is None:
        return session.progress
    if (stored.begun_at, stored.token) != (session.progress.begun_at, session.progress.token):
        raise BadInput(
            "the lab has been begun anew meanwhile", where=session.guided.id, next_step="lvslab lab status shows it"
        )
    return _placed(session.guided, stored)


def commit_answer(session: Session, text: str, kind: StepKind) -> Session:
    """Keep the answer to the question, or the prediction, that the student is at. Raises BadInput."""
    with _locked(session) as now:
        step = now.here
        if step.kind is not kind:
            raise BadInput(
                f"the lab is at a {_kind_name(step.kind)} now",
                where=step.id,
                next_step=f"lvslab lab {_VERBS[step.kind]}",
            )
        answer = read_answer(step, text)
        if kind is StepKind.PREDICTION and now.progress.step(step.id).answer is not None:
            raise BadInput("a prediction stands once it is made", where=step.id, next_step="lvslab lab next")
        changes = {"answer": answer} | ({"passed_at": time.time()} if kind is StepKind.PREDICTION else {})
        return _written(now, now.progress.with_step(step.id, **changes))


def _written(session: Session, progress: Progress) -> Session:
    write_progress(progress)
    return replace(session, progress=progress)


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
    with _locked(session) as now:
        step = now.here
        shown = min(len(step.hints), now.progress.step(step.id).hints + 1)
        return _written(now, now.progress.with_step(step.id, hints=shown)), shown


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
    with _locked(session) as now:
        step = now.here
        if not now.progress.step(step.id).done:
            raise BadInput(
                "no prediction has been made yet" if step.kind is StepKind.PREDICTION else "this step is not done yet",
                where=f"step {step.id}",
                next_step=f"lvslab lab {_VERBS[step.kind]}, or give it up with lvslab lab solution --give-up",
            )
        place = now.guided.steps.index(step) + 1
        if place == len(now.guided.steps):
            raise BadInput("this was the last step", where=now.guided.id, next_step="lvslab lab status")
        return _written(now, replace(now.progress, position=now.guided.steps[place].id))


def _kept(session: Session, progress: Progress) -> Session:
    """Write down what took a while to find out: only the steps that it changed, since others may have changed, too."""
    with _locked(session) as now:
        before = session.progress.steps
        changed: dict[str, StepProgress] = {
            step_id: step for step_id, step in progress.steps.items() if before.get(step_id) != step
        }
        return _written(now, replace(now.progress, steps={**now.progress.steps, **changed}))
