"""A guided lab after reading: one variant of it, every text and check filled in with this student's addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from lvslab.labs.words import Language, Words
from lvslab.topology.document import Entry
from lvslab.topology.model import Topology


class StepKind(StrEnum):
    TASK = "task"
    QUESTION = "question"
    PREDICTION = "predict"


class AnswerKind(StrEnum):
    """How an answer is read: as it is, as a whole number, as a node's name, or as several words in order."""

    TEXT = "text"
    NUMBER = "number"
    NODE = "node"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must be so: the name of a registered check and its arguments."""

    id: str
    name: str
    arguments: Entry
    why: Words | None = None
    """Why it matters, for whom it fails."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Something to be seen in the lab: the name of a registered observation and its arguments."""

    name: str
    arguments: Entry


@dataclass(frozen=True, slots=True)
class Step:
    """`observation` is what a question or prediction is compared with; `reveal` the task that shows a prediction."""

    kind: StepKind
    id: str
    title: Words
    points: int
    checks: tuple[Check, ...] = ()
    ask: Words | None = None
    answer: AnswerKind = AnswerKind.TEXT
    within_percent: int = 0
    """How far a number may be from what is observed and still count as the same."""
    choices: tuple[str, ...] = ()
    observation: Observation | None = None
    reveal: str | None = None
    hints: tuple[Words, ...] = ()


@dataclass(frozen=True, slots=True)
class Instructions:
    """A lab's text in one language, as Markdown: before the first step, each step's own part, when the lab is done."""

    intro: str
    steps: Mapping[str, str]
    closing: str


@dataclass(frozen=True, slots=True)
class Needs:
    programs: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GuidedLab:
    """One variant of a lab."""

    id: str
    """The folder's name: 03-dr."""
    folder: Path
    title: Words
    goal: Words
    minutes: int
    topology: Topology
    """As the student finds it: what is to be done by hand is missing."""
    needs: Needs
    steps: tuple[Step, ...]
    instructions: Mapping[Language, Instructions]
    context: Mapping[str, object] = field(default_factory=dict)
    """What texts and transcripts may name: parameters, nodes, vip, port."""

    def step(self, step_id: str) -> Step:
        """Raises KeyError."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    @property
    def points(self) -> int:
        return sum(step.points for step in self.steps if step.kind is not StepKind.PREDICTION)

    def revealed_by(self, task: Step) -> tuple[Step, ...]:
        """Return the predictions that can be seen once a task is done."""
        return tuple(step for step in self.steps if step.reveal == task.id)

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for step in self.steps for check in step.checks)
