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

    task: str | None = Field(default=None, description="id of a task: something to do, proven by checks")
    question: str | None = Field(default=None, description="id of a question: something to find out in the lab")
    predict: str | None = Field(default=None, description="id of a prediction: committed before it can be seen")
    title: WordsEntry
    points: Points = 1
    checks: list[dict[str, Any]] = Field(default=[], description="questions: what must hold before the answer counts")
    ask: WordsEntry | None = Field(default=None, description="what is asked, in one sentence")
    answer: Literal["text", "number", "node", "list"] = "text"
    within: Percent = Field(default=0, description="numbers: how far off is still right, in per cent")
    choices: Texts = ()
    observe: dict[str, Any] | None = Field(default=None, description="what the answer is compared with")
    reveal: str | None = Field(default=None, description="predictions: the task after which it can be seen")
    hints: list[WordsEntry] = Field(default=[])


class LabDocument(Entry):
    """The whole of lab.yaml."""

    title: WordsEntry
    goal: WordsEntry
    minutes: Minutes
    topology: str = "topology.yaml"
    without: Removals = Field(default=[])
    variants: dict[str, Variant] = Field(default={})
    needs: NeedsEntry = NeedsEntry()
    steps: list[StepEntry] = Field(min_length=1)
