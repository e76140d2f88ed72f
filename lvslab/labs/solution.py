"""A lab's solution and its mistakes: transcripts in ``solution/`` (one per step) and ``wrong/`` (one per mistake)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.labs.model import GuidedLab, StepKind
from lvslab.labs.transcript import Transcript, read_transcript
from lvslab.topology.wording import one_of

SUFFIX = ".console"
SETUP = f"setup{SUFFIX}"


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a student might do wrong in a step, and the check that must then fail."""

    name: str
    step: str
    fails: str
    transcript: Transcript


def setup_of(guided: GuidedLab) -> Transcript:
    """Return what is typed before the student comes in; mostly nothing."""
    return _read(guided, guided.folder / SETUP)


def solution_of(guided: GuidedLab, step_id: str) -> Transcript:
    """Return what a student would type for one step; empty if nothing is needed."""
    return _read(guided, guided.folder / "solution" / f"{step_id}{SUFFIX}")


def mistakes_of(guided: GuidedLab) -> Iterator[Mistake]:
    """Yield the mistakes in order of their names. Raises BadInput for one that does not say what it fails."""
    steps = {step.id: step for step in guided.steps}
    for path in sorted((guided.folder / "wrong").glob(f"*{SUFFIX}")):
        transcript = _read(guided, path)
        step_id, fails = transcript.header("instead of"), transcript.header("fails")
        if step_id not in steps:
            raise BadInput(
                "which step is done wrongly?",
                where=str(path),
                expected=f"a line '# instead of: STEP', {one_of(steps)}",
                found=repr(step_id),
            )
        step = steps[step_id]
        known = [check.id for check in step.checks] + [step_id] * (step.kind is not StepKind.TASK)
        if fails not in known:
            raise BadInput(
                "which check must fail?",
                where=str(path),
                expected=f"a line '# fails: CHECK', {one_of(known)}",
                found=repr(fails),
            )
        yield Mistake(path.name.removesuffix(SUFFIX), step_id, fails, transcript)


def _read(guided: GuidedLab, path: Path) -> Transcript:
    if not os.path.lexists(path):
        return Transcript()
    nodes = tuple(node.name for node in guided.topology.nodes)
    return read_transcript(path, guided.context, nodes)
