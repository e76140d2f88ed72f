"""Loading a lab: one student's variant of it, every reference checked, or the line that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lvslab.errors import BadInput
from lvslab.labs.context import context_of
from lvslab.labs.document import LabDocument, NeedsEntry, StepEntry, VariantEntry, WordsEntry
from lvslab.labs.instructions import read_instructions
from lvslab.labs.model import AnswerKind, Check, GuidedLab, Needs, Observation, Step, StepKind
from lvslab.labs.node_names import Known
from lvslab.labs.registry import Registry, only_key, registry_of
from lvslab.labs.shipped import DOCUMENT
from lvslab.labs.variants import draw, variant_faults
from lvslab.labs.words import Language, Words
from lvslab.topology import load_topology
from lvslab.topology.document import Entry
from lvslab.topology.faults import Fault, KeyPath, Places
from lvslab.topology.model import Topology
from lvslab.topology.parameters import read_defaults
from lvslab.topology.rendering import render
from lvslab.topology.shape import Shape, shape_faults, shaped
from lvslab.topology.shipped import find, shipped
from lvslab.topology.source import read_source
from lvslab.topology.wording import did_you_mean, one_of
from lvslab.topology.yaml_reader import read_yaml

INSTRUCTIONS = {language: f"instructions.{language}.md" for language in Language}
NAMES = "names that this lab may use"
_ANY = "*"
_ENTRIES: dict[KeyPath, type[Entry]] = {
    (): LabDocument,
    ("title",): WordsEntry,
    ("goal",): WordsEntry,
    ("variants", _ANY): VariantEntry,
    ("needs",): NeedsEntry,
    ("steps", _ANY): StepEntry,
    ("steps", _ANY, "title"): WordsEntry,
    ("steps", _ANY, "ask"): WordsEntry,
    ("steps", _ANY, "hints", _ANY): WordsEntry,
}
_BESIDE_A_CHECK = ("id", "why")


def load_lab(folder: Path, seed: str = "") -> GuidedLab:
    """Return the variant of a lab that a seed gives. Raises BadInput, naming file and line."""
    path = folder / DOCUMENT
    read = read_yaml(read_source(path, "the lab"), str(path))
    places = Places(str(path), read.lines)
    document = shaped(LabDocument, read.data, places, _ENTRIES)
    places.raise_any(variant_faults(document.variants))
    drawn = draw(document.variants, seed, folder.name)
    topology = _topology(folder, document, drawn, places)
    filler = _Filler(places, {"steps": len(document.steps)} | context_of(topology, drawn))
    known = Known(tuple(node.name for node in topology.nodes))
    steps = _Steps(filler, registry_of(folder), known).read(document.steps)
    places.raise_any(_step_faults(steps))
    return GuidedLab(
        id=folder.name,
        folder=folder,
        title=_words(document.title),
        goal=filler.words(("goal",), document.goal),
        minutes=document.minutes,
        topology=topology,
        needs=Needs(document.needs.programs, document.needs.schedulers),
        steps=steps,
        instructions={
            language: read_instructions(folder / name, filler.context) for language, name in INSTRUCTIONS.items()
        },
        context=filler.context,
    )


def _topology(folder: Path, document: LabDocument, drawn: Mapping[str, object], places: Places) -> Topology:
    own = folder / document.topology
    path = own if own.is_file() else _shipped_topology(folder, document.topology, places)
    known = read_defaults(read_source(path), str(path))
    params = {name: value for name, value in drawn.items() if name in known}
    filler = _Filler(places, drawn)
    without = [filler.text(("without", place), text) for place, text in enumerate(document.without)]
    return load_topology(path, params=params, without=[each for each in without if each])


def _shipped_topology(folder: Path, name: str, places: Places) -> Path:
    names = shipped()
    if name in names:
        return find(name)
    raise places.bad_input(
        Fault(
            ("topology",),
            "no such topology",
            f"the file {folder / name}, or the name of one that comes with lvslab",
            repr(name),
            did_you_mean(name, names),
        )
    )


def _words(entry: WordsEntry) -> Words:
    return Words(entry.en, entry.zh)


@dataclass(frozen=True, slots=True)
class _Filler:
    """Fills names into values; errors name the line of lab.yaml."""

    places: Places
    context: Mapping[str, object]

    def value(self, path: KeyPath, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(path, value)
        if isinstance(value, list):
            return [self.value((*path, place), item) for place, item in enumerate(value)]
        if isinstance(value, dict):
            return {self.text(path, str(key)): self.value((*path, key), item) for key, item in value.items()}
        return value

    def text(self, path: KeyPath, text: str) -> str:
        if "{" not in text:
            return text
        try:
            return render(text, "", self.context, names=NAMES).text
        except BadInput as error:
            raise self.places.bad_input(Fault(path, error.what, next_step=error.next_step)) from error

    def words(self, path: KeyPath, entry: WordsEntry) -> Words:
        return Words(self.text((*path, "en"), entry.en), self.text((*path, "zh"), entry.zh))


@dataclass(slots=True)
class _Steps:
    """Reads the steps of one lab."""

    filler: _Filler
    registry: Registry
    nodes: Known
    faults: list[Fault] = field(default_factory=list)

    def read(self, entries: list[StepEntry]) -> tuple[Step, ...]:
        steps = tuple(self._step(("steps", place), entry) for place, entry in enumerate(entries))
        self.filler.places.raise_any(self.faults)
        return steps

    def _step(self, path: KeyPath, entry: StepEntry) -> Step:
        named = [kind for kind in StepKind if getattr(entry, kind.value) is not None]
        if len(named) != 1:
            raise self.filler.places.bad_input(Fault(path, "not a step", "task:, question: or predict:, one of them"))
        kind = named[0]
        fill = self.filler
        return Step(
            kind=kind,
            id=str(getattr(entry, kind.value)),
            title=fill.words((*path, "title"), entry.title),
            points=0 if kind is StepKind.PREDICTION else entry.points,
            checks=tuple(self._check((*path, "checks", place), one) for place, one in enumerate(entry.checks)),
            ask=fill.words((*path, "ask"), entry.ask) if entry.ask else None,
            answer=AnswerKind(entry.answer),
            within_percent=entry.within,
            choices=tuple(fill.text((*path, "choices"), choice) for choice in entry.choices),
            observation=self._observation((*path, "observe"), entry.observe) if entry.observe else None,
            reveal=entry.reveal,
            hints=tuple(fill.words((*path, "hints", place), hint) for place, hint in enumerate(entry.hints)),
        )

    def _check(self, path: KeyPath, entry: dict[str, Any]) -> Check:
        name = only_key(entry, *_BESIDE_A_CHECK)
        kinds = self.registry.checks
        arguments = self._arguments(path, name, entry, {kind.name: kind.arguments for kind in kinds.values()})
        why = entry.get("why")
        return Check(
            id=str(entry.get("id", name)),
            name=str(name),
            arguments=arguments,
            why=self.filler.words((*path, "why"), self._shaped(WordsEntry, (*path, "why"), why)) if why else None,
        )

    def _observation(self, path: KeyPath, entry: dict[str, Any]) -> Observation:
        name = only_key(entry)
        known = {kind.name: kind.arguments for kind in self.registry.observations.values()}
        return Observation(str(name), self._arguments(path, name, entry, known))

    def _arguments(
        self, path: KeyPath, name: str | None, entry: dict[str, Any], known: Mapping[str, type[Entry]]
    ) -> Entry:
        if name is None or name not in known:
            found = repr(name) if name else "keys " + ", ".join(map(repr, entry))
            raise self.filler.places.bad_input(
                Fault(path, "no such check or observation", one_of(known), found, did_you_mean(str(name), known))
            )
        return self._shaped(known[name], (*path, name), self.filler.value((*path, name), entry[name] or {}))

    def _shaped(self, model: type[Shape], path: KeyPath, data: object) -> Shape:
        try:
            return model.model_validate(data, context=self.nodes)
        except ValidationError as error:
            self.filler.places.raise_any(shape_faults(error, {(): model}, path))
            raise


def _step_faults(steps: tuple[Step, ...]) -> Iterator[Fault]:
    tasks: list[str] = [step.id for step in steps if step.kind is StepKind.TASK]
    seen: set[str] = set()
    checks: set[str] = set()
    for place, step in enumerate(steps):
        path: KeyPath = ("steps", place)
        if step.id in seen:
            yield Fault(path, "two steps of one id", found=repr(step.id))
        seen.add(step.id)
        for number, check in enumerate(step.checks):
            if check.id in checks:
                yield Fault(
                    (*path, "checks", number), "two checks of one id", found=repr(check.id), next_step="give it an id:"
                )
            checks.add(check.id)
        yield from _kind_faults(path, step)
        if step.kind is StepKind.PREDICTION and step.reveal not in tasks:
            yield Fault((*path, "reveal"), "not a task of this lab", one_of(tasks), repr(step.reveal))


def _kind_faults(path: KeyPath, step: Step) -> Iterator[Fault]:
    if step.kind is StepKind.TASK:
        if not step.checks:
            yield Fault(path, "a task without checks proves nothing", "checks:")
        return
    if step.ask is None or step.observation is None:
        yield Fault(path, "nothing is asked", "ask: and observe:")
    if step.checks and step.kind is StepKind.PREDICTION:
        yield Fault((*path, "checks"), "a prediction has nothing to be done first", "checks: of a task or question")
