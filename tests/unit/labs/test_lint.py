"""Linting labs: the shipped ones have no fault, and each kind of fault is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lvslab.labs.claims import proven_claims
from lvslab.labs.lint import lint_lab
from lvslab.labs.shipped import find_lab_folder, shipped_labs

Break = Callable[[Path], object]


@pytest.mark.parametrize("lab", shipped_labs(), ids=lambda path: path.name)
def test_shipped_labs_have_no_fault(lab: Path) -> None:
    assert [fault.as_line() for fault in lint_lab(lab)] == []


@pytest.mark.parametrize("lab", shipped_labs(), ids=lambda path: path.name)
def test_shipped_labs_prove_what_they_claim(lab: Path) -> None:
    assert list(proven_claims(lab))


@pytest.mark.parametrize("lab", shipped_labs(), ids=lambda path: path.name)
def test_captures_show_each_packet_at_once(lab: Path) -> None:
    """Tcpdump keeps lines back unless it writes to a terminal or has -l (tcpdump(8)); `lvslab exec` gives it a pipe."""
    for path in (lab / "instructions.en.md", lab / "instructions.zh.md", lab / "lab.yaml"):
        captures = re.findall(r"(?:exec \S+ -- |# (?:timeout \d+ )?|^)(tcpdump -.*)", path.read_text(), re.MULTILINE)
        for capture in captures:
            options = "".join(word for word in capture.split() if word.startswith("-"))
            assert "l" in options, f"{path}: {capture}"


def test_a_new_lab_has_no_fault(folder: Path) -> None:
    assert lint_lab(folder) == ()


def replaced(file: str, written: str, instead: str) -> Break:
    def break_it(folder: Path) -> None:
        text = (folder / file).read_text()
        assert written in text
        (folder / file).write_text(text.replace(written, instead, 1))

    return break_it


def folder_instead(folder: Path) -> None:
    (folder / "setup.console").unlink()
    (folder / "setup.console").mkdir()


def link_to_nowhere_instead(folder: Path) -> None:
    (folder / "setup.console").unlink()
    (folder / "setup.console").symlink_to("none")


FAULTS: dict[str, tuple[Break, str]] = {
    "a step without its text": (replaced("instructions.zh.md", "<!-- step: service -->\n", ""), "the text's steps"),
    "a text of no step": (replaced("instructions.en.md", "step: service", "step: servce"), "the text's steps"),
    "a text without an end": (replaced("instructions.zh.md", "<!-- closing -->", ""), "does not close"),
    "a heading in one language only": (replaced("instructions.zh.md", "## 虚拟服务", "虚拟服务"), "same headings"),
    "a drawing that differs": (replaced("instructions.zh.md", "──── rs1", "---- rs1"), "a block of commands differs"),
    "a proof in one language only": (replaced("instructions.zh.md", "<!-- proof: replies -->", ""), "same proofs"),
    "a proof of nothing": (replaced("instructions.en.md", "proof: replies", "proof: replys"), "does not exist"),
    "a name that is none": (replaced("instructions.en.md", "{{ vip }}", "{{ vp }}"), "'vp' is undefined"),
    "a hint too few": (
        replaced("lab.yaml", '      - {en: "Look at the director\'s table.", zh: 看一看调度器上的表。}\n', ""),
        "wrong number of hints",
    ),
    "no solution": (lambda folder: (folder / "solution/service.console").unlink(), "has no solution"),
    "a solution of no step": (
        lambda folder: (folder / "solution/serice.console").write_text("rs1# true\n"),
        "a solution of no step",
    ),
    "a mistake that fails nothing": (replaced("wrong/one-server.console", "fails: table", "fails: tabel"), "must fail"),
    "a mistake in no step": (replaced("wrong/one-server.console", "of: service", "of: servic"), "done wrongly"),
    "a command on no node": (replaced("solution/service.console", "director#", "directr#"), "no such node"),
    "a line of no transcript": (replaced("solution/service.console", "director#", "director$"), "not a line"),
    "no topology": (lambda folder: (folder / "topology.yaml").unlink(), "lab.yaml"),
    "checks that leave": (lambda folder: (folder / "checks.py").write_text("raise SystemExit(0)"), "SystemExit: 0"),
    "checks that are interrupted": (
        lambda folder: (folder / "checks.py").write_text("raise KeyboardInterrupt"),
        "the lab's own checks cannot be loaded: found KeyboardInterrupt",
    ),
    "a check of no node": (
        replaced("lab.yaml", "servers: {rs1: 1, rs2: 1}", "servers: {rs1: 1, rs9: 1}"),
        "unknown node: expected one of client, director, rs1, rs2, found 'rs9'; did you mean 'rs",
    ),
    "a check of a pattern that no node has": (
        replaced("lab.yaml", "verify: {expect: [nat-request, nat-reply]}", 'gateway: {node: "ws*", via: 192.0.2.1}'),
        "matches no node: expected one of client, director, rs1, rs2, found 'ws*'",
    ),
    "a check of a director of another name": (
        replaced("topology.yaml", "  director: {", "  balancer: {"),
        "checks[0].servers.director: unknown node",
    ),
    "an observation at no node": (
        replaced("lab.yaml", "field: {node: director,", "field: {node: directr,"),
        "found 'directr'; did you mean 'director'?",
    ),
    "a folder for a set-up": (folder_instead, "expected a regular file, found a folder"),
    "a set-up that leads nowhere": (link_to_nowhere_instead, "cannot read the transcript"),
    "a link to nothing": (
        lambda folder: (
            [
                replaced(name, "<!-- step: service -->", "[x](gone.png)\n\n<!-- step: service -->")(folder)
                for name in ("instructions.en.md", "instructions.zh.md")
            ]
        ),
        "a link to nothing",
    ),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_found(folder: Path, kind: str) -> None:
    break_it, said = FAULTS[kind]
    break_it(folder)
    found = [fault.as_line() for fault in lint_lab(folder)]
    assert any(said in line for line in found), found
    assert all(str(folder) in line for line in found), "each says where"
    assert len(found) == len(set(found)), "once, though it shows in every variant"


@pytest.mark.parametrize("wanted", ["3", "03", "dr", "03-dr"])
def test_a_lab_is_found_by_number_or_name(wanted: str) -> None:
    assert find_lab_folder(wanted).name == "03-dr"
