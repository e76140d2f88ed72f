"""The tables of fields in docs/labs.md are those of the models. ``UPDATE_GOLDEN=1 pytest`` writes them there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic.fields import FieldInfo

from lvslab.labs.document import LabDocument, StepEntry
from lvslab.labs.lint import lint_lab
from lvslab.topology.document import Entry
from lvslab.topology.yaml_reader import read_yaml

DOCUMENT = Path(__file__).parents[3] / "docs" / "labs.md"
MODELS: dict[str, type[Entry]] = {model.__name__: model for model in (LabDocument, StepEntry)}
TABLE = re.compile(r"<!-- fields: (?P<model>\w+) -->\n(?P<rows>(?:\|.*\n)*)")
REQUIRED_OF = {"task": ["checks"], "question": ["ask", "observe"], "predict": ["ask", "observe", "reveal"]}
PLURALS = {"task": "tasks", "question": "questions", "predict": "predictions"}
STEPS = {"predict": 0, "task": 1, "question": 2}
"""Where the new lab has a step of each kind."""


def table(model: type[Entry]) -> str:
    rows = ("| key | default | meaning |", "| --- | --- | --- |", *_rows(model))
    return "".join(f"{row}\n" for row in rows)


def _rows(model: type[Entry]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield f"| `{field.alias or name}` | {_default(field)} | {field.description} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if isinstance(value, Entry):
        value = value.model_dump(exclude_defaults=True)
    return "none" if value in (None, (), [], {}) else f"`{value}`"


def test_the_document_has_the_models_fields() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    tables = {name: table(model) for name, model in MODELS.items()}
    if os.environ.get("UPDATE_GOLDEN"):
        text = TABLE.sub(lambda found: f"<!-- fields: {found['model']} -->\n{tables[found['model']]}", text)
        DOCUMENT.write_text(text, encoding="utf-8")
    assert {found["model"]: found["rows"] for found in TABLE.finditer(text)} == tables


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_every_field_is_described_in_one_cell(model: type[Entry]) -> None:
    for name, field in model.model_fields.items():
        assert field.description, name
        assert not set("|\n") & set(field.description), name


def without(folder: Path, drop: str, kind: str | None = None) -> list[str]:
    """Return the faults once a key is gone from a correct lab, or from its step of a kind."""
    path = folder / "lab.yaml"
    data: Any = read_yaml(path.read_text(encoding="utf-8"), str(path)).data
    path.write_text(json.dumps(data), encoding="utf-8")
    assert lint_lab(folder) == ()
    del (data if kind is None else data["steps"][STEPS[kind]])[drop]
    path.write_text(json.dumps(data), encoding="utf-8")
    return [fault.as_line() for fault in lint_lab(folder)]


@pytest.mark.parametrize("name", [name for name, field in LabDocument.model_fields.items() if field.is_required()])
def test_what_a_lab_is_said_to_require_it_does(folder: Path, name: str) -> None:
    assert without(folder, name)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in REQUIRED_OF.items() for name in names])
def test_what_a_step_is_said_to_require_it_does(folder: Path, kind: str, name: str) -> None:
    said = (StepEntry.model_fields[name].description or "").partition(":")[0]
    assert said.startswith("required of") and PLURALS[kind] in said
    assert without(folder, name, kind)


def test_nothing_else_is_said_to_be_required() -> None:
    said = {
        name for name, field in StepEntry.model_fields.items() if (field.description or "").startswith("required of")
    }
    assert said == {name for names in REQUIRED_OF.values() for name in names}
