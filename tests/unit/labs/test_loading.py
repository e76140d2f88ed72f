"""Reading lab.yaml: one variant with everything filled in, or the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.labs.loading import load_lab
from lvslab.labs.model import StepKind
from lvslab.labs.words import Language


def test_texts_checks_and_network_follow_the_variant(folder: Path) -> None:
    first, second = load_lab(folder, "one"), load_lab(folder, "two")
    addresses = [str(lab.topology.node("rs1").own_addresses[0]) for lab in (first, second)]
    assert addresses[0] != addresses[1]
    for lab, address in zip((first, second), addresses, strict=True):
        assert address in lab.instructions[Language.ENGLISH].intro
        assert address in lab.instructions[Language.CHINESE].intro
        assert address in lab.step("service").hints[2].en


def test_steps_are_read_in_order_with_their_kinds(folder: Path) -> None:
    lab = load_lab(folder)
    assert [(step.kind, step.id) for step in lab.steps] == [
        (StepKind.PREDICTION, "calls-of-rs1"),
        (StepKind.TASK, "service"),
        (StepKind.QUESTION, "source-at-server"),
    ]
    assert lab.points == 3, "predictions give none"


FAULTS = {
    "minutes: 15": ("minutes: soon", "wrong kind of value"),
    "  - predict: calls-of-rs1\n": ("  - predicts: x\n", "unknown key"),
    "reveal: service": ("reveal: servce", "not a task of this lab"),
    "servers: {method: nat": ("serversx: {method: nat", "no such check"),
    "{method: nat, servers": ("{method: natt, servers", "unknown value"),
    "{method: nat, servers:": ("{metod: nat, servers:", "unknown key"),
    "{server-count: {times: 8": ("{server-counts: {times: 8", "no such check or observation"),
    "times: 8": ("times: many", "wrong kind of value"),
    "{{ vip }}:{{ port }} and two": ("{{ vipp }} and two", "'vipp' is undefined"),
    "inside: {from: 1, to: 250}": ("inside: {from: 9, to: 2}", "an empty range"),
    "- task: service": ("- task: calls-of-rs1", "two steps of one id"),
    "- id: replies": ("- id: table", "two checks of one id"),
    "title: {en: The virtual service, zh: 虚拟服务}": ("title: {en: The virtual service}", "required key is missing"),
    "- question: source-at-server": ("- question: s\n    task: t", "not a step"),
}


@pytest.mark.parametrize("written", FAULTS)
def test_a_fault_is_named_with_its_line(folder: Path, written: str) -> None:
    instead, said = FAULTS[written]
    path = folder / "lab.yaml"
    text = path.read_text()
    assert text.count(written) == 1
    path.write_text(text.replace(written, instead))
    with pytest.raises(BadInput) as caught:
        load_lab(folder)
    lines = str(caught.value).splitlines()
    assert any(said in line and f"{path}:" in line for line in lines), lines


def test_a_lab_s_own_checks_are_its_own(folder: Path, tmp_path: Path) -> None:
    (folder / "checks.py").write_text(
        "from lvslab.labs.registry import check\n"
        "from lvslab.topology.document import Entry\n"
        "class Own(Entry):\n    node: str\n"
        "@check('own', Own)\ndef own(view, wanted):\n    raise LookupError\n"
    )
    path = folder / "lab.yaml"
    plain = path.read_text()
    path.write_text(plain.replace("verify: {expect: [nat-request, nat-reply]}", "own: {node: rs1}"))
    assert load_lab(folder).step("service").checks[1].name == "own"
    (folder / "checks.py").unlink()
    with pytest.raises(BadInput, match="no such check"):
        load_lab(folder)


def test_a_lab_s_checks_that_cannot_be_loaded_are_named(folder: Path) -> None:
    (folder / "checks.py").write_text("1/0\n")
    with pytest.raises(BadInput, match=r"checks\.py.*ZeroDivisionError"):
        load_lab(folder)
