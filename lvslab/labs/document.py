"""The format of lab.yaml: one pydantic model per mapping, types only. docs/labs.md is the reference."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from lvslab.topology.document import Entry, Removals, Scalar, Texts

Points = Annotated[int, Field(ge=0, le=100)]
Percent = Annotated[int, Field(ge=0, le=100)]
Minutes = Annotated[int, Field(ge=1, le=240)]


class WordsEntry(Entry):
    """A text for people, by language."""

    en: str
    zh: str


def _choice(value: object) -> object:
    return {"of": value} if isinstance(value, list) else value


class VariantEntry(Entry):
    """What a parameter may be: one of a list, a number in a range, or a list in any order."""

    of: list[Scalar] | None = None
    first: int | None = Field(default=None, alias="from")
    last: int | None = Field(default=None, alias="to")
    shuffle: list[Scalar] | None = None


Variant = Annotated[VariantEntry, BeforeValidator(_choice, json_schema_input_type=VariantEntry | list[Scalar])]


class NeedsEntry(Entry):
    """What the machine must offer; without it the lab says so before it begins."""

    programs: Texts = ()
    schedulers: Texts = ()


class StepEntry(Entry):
    """One step: a task to be done, a question to be answered, or a prediction to be made. One of the three keys."""

    task: str | None = Field(default=None, description="a task's id: something to do, proven by checks")
    question: str | None = Field(default=None, description="a question's id: something to find out in the lab")
    predict: str | None = Field(default=None, description="a prediction's id: said before it can be seen")
    title: WordsEntry = Field(description="its name, by language")
    points: Points = Field(default=1, description="0 to 100, for passing it; a prediction gives none")
    checks: list[dict[str, Any]] = Field(
        default=[],
        description="required of tasks: what must hold, judged in order; "
        "questions: what must hold before the answer counts",
    )
    ask: WordsEntry | None = Field(
        default=None, description="required of questions and predictions: what is asked, in one sentence"
    )
    answer: Literal["text", "number", "node", "list"] = Field(
        default="text", description="`text`, `number` (whole), `node`, or `list`: words in order"
    )
    within: Percent = Field(
        default=0, description="numbers: how far off still counts as the same, 0 to 100 per cent of what is observed"
    )
    choices: Texts = Field(default=(), description="the only answers that are taken; of a list, its words")
    observe: dict[str, Any] | None = Field(
        default=None,
        description="required of questions and predictions: the observation that the answer is compared with",
    )
    reveal: str | None = Field(
        default=None, description="required of predictions: the task after which it is observed, and shown"
    )
    hints: list[WordsEntry] = Field(
        default=[], description="tasks and questions have three: where to look, what to look for, the command"
    )


class LabDocument(Entry):
    """The whole of lab.yaml."""

    title: WordsEntry = Field(description="the lab's name, by language (`en`, `zh`; so are all texts)")
    goal: WordsEntry = Field(description="one sentence on what the student will have done")
    minutes: Minutes = Field(description="how long it takes, 1 to 240")
    topology: str = Field(
        default="topology.yaml", description="a file in the lab's folder, or the name of a shipped topology"
    )
    without: Removals = Field(
        default=[], description="implied settings that are missing when the student comes in: `vip@rs*`"
    )
    variants: dict[str, Variant] = Field(default={}, description="by name: what is drawn for each student")
    needs: NeedsEntry = Field(
        default=NeedsEntry(), description="`programs` and `schedulers` without which the lab does not begin"
    )
    steps: list[StepEntry] = Field(min_length=1, description="in the order in which the student meets them")
