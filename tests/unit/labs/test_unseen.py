"""What cannot be seen in the lab is said to be so, with what a command printed in its place, in both languages."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lvslab.cli.lab.options import show_revealed
from lvslab.cli.main import main
from lvslab.labs.checks.commands import Command, command
from lvslab.labs.judge import Judge, StepOutcome
from lvslab.labs.loading import load_lab
from lvslab.labs.model import GuidedLab, Observation, Step
from lvslab.labs.observations.output import Output
from lvslab.labs.page import report_page
from lvslab.labs.printed import told
from lvslab.labs.progress import Progress, write_progress
from lvslab.labs.session import Session, open_session
from lvslab.labs.show import outcome_lines
from lvslab.labs.view import View
from lvslab.labs.words import Language
from lvslab.report.console import make_console

PRINTED = "IP Virtual Server version 1.2.1\n\nTCP  198.18.0.10:80 rr\n"
SEEN = {
    Language.ENGLISH: (
        "this cannot be seen in the lab as it is now: "
        "ipvsadm -Ln prints: IP Virtual Server version 1.2.1; TCP 198.18.0.10:80 rr"
    ),
    Language.CHINESE: (
        "在实验现在的状态下看不到这一点：ipvsadm -Ln 的输出：IP Virtual Server version 1.2.1; TCP 198.18.0.10:80 rr"
    ),
}


def looking_for(folder: Path, step_id: str, expression: str) -> tuple[GuidedLab, Step]:
    """A lab's step that looks for an expression in the director's table."""
    wanted = Output.model_validate({"node": "director", "run": "ipvsadm -Ln", "match": expression})
    guided = load_lab(folder)
    return guided, replace(guided.step(step_id), observation=Observation("output", wanted))


def outcome_of(guided: GuidedLab, step: Step, printed: str = PRINTED) -> StepOutcome:
    view = cast(View, SimpleNamespace(run=lambda *_: SimpleNamespace(output=printed)))
    return Judge(guided, view, {step.id: "wlc"}).judge_step(step)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("language", Language)
def test_a_question_says_where_and_what_the_command_printed(
    folder: Path, language: Language, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    outcome = outcome_of(*looking_for(folder, "source-at-server", "-> secret (wlc)"))
    finding = outcome.checks[0].finding
    assert finding.seen.in_(language) == SEEN[language]
    assert finding.where == "director"
    make_console(sys.stdout).print(outcome_lines(outcome, language))
    said = shown(capsys)
    assert SEEN[language] in said
    assert "secret" not in said


def test_a_command_that_prints_nothing_is_said_to(folder: Path) -> None:
    finding = outcome_of(*looking_for(folder, "source-at-server", "rr"), printed="\n").checks[0].finding
    assert finding.seen.en.endswith("as it is now: ipvsadm -Ln prints nothing")


def test_what_is_found_is_compared(folder: Path) -> None:
    outcome = outcome_of(*looking_for(folder, "source-at-server", r"(\w+)$"), printed="TCP 198.18.0.10:80 wlc")
    assert outcome.agrees


@pytest.mark.parametrize("language", Language)
def test_a_prediction_that_cannot_be_observed_is_not_passed_over(
    folder: Path, language: Language, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    guided, step = looking_for(folder, "calls-of-rs1", "wlc")
    progress = Progress("13-mine", str(folder), position="service").with_step(step.id, answer="wlc", passed_at=1.0)
    show_revealed(Session(guided, progress), [outcome_of(guided, step)], language)
    said = shown(capsys)
    assert SEEN[language] in said
    assert (step.ask or step.title).in_(language) in said
    assert "lvslab lab read" not in said


def test_a_prediction_that_could_not_be_judged_is_not_the_student_s_fault(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guided, step = looking_for(folder, "calls-of-rs1", "wlc")
    progress = Progress("13-mine", str(folder), position="service").with_step(step.id, answer="wlc", passed_at=1.0)
    broken = Judge(guided, cast(View, SimpleNamespace()), {step.id: "wlc"}).judge_step(step)
    show_revealed(Session(guided, progress), [broken], Language.ENGLISH)
    assert "this is not your fault" in shown(capsys)


def test_of_much_that_was_printed_the_beginning_is_told() -> None:
    assert told("x", ["a" * 200]).en == f"x prints: {'a' * 159}…"
    assert told("x", ["a" * 100, "b" * 50, "c" * 50]).en == f"x prints: {'a' * 100}; {'b' * 50}; …"


def test_a_check_of_a_command_tells_the_same() -> None:
    view = cast(
        View,
        SimpleNamespace(
            topology=SimpleNamespace(nodes=(SimpleNamespace(name="rs1"),)),
            run=lambda *_: SimpleNamespace(output="one\ntwo  bad\nthree\n", status=0),
        ),
    )
    wanted = Command.model_validate({"node": "rs1", "run": "x", "lacks": "bad", "expect": {"en": "e", "zh": "z"}})
    assert command(view, wanted).seen.en == "x prints: two bad"


@pytest.mark.parametrize(
    ("done", "observed", "said"),
    [
        ({}, None, ""),
        ({"passed_at": 2.0}, None, "could not be seen in the lab"),
        ({"gave_up": True}, None, "could not be seen in the lab"),
        ({"passed_at": 2.0}, "4", "4"),
    ],
)
def test_status_and_report_tell_what_was_not_observed_once_its_task_is_done(
    folder: Path, done: dict[str, object], observed: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress("13-mine", str(folder), begun_at=1.0, position="service", language="en")
    progress = progress.with_step("calls-of-rs1", answer="5", passed_at=1.0, observed=observed)
    progress = progress.with_step("service", **done)
    write_progress(progress)
    with pytest.raises(SystemExit):
        main(["lab", "status"])
    told = shown(capsys)
    page = " ".join(re.sub(r"<[^>]*>", " ", report_page(open_session(None), None, Language.ENGLISH).decode()).split())
    assert (f"predicted 5 observed {said}" in told) is bool(said)
    assert ("predicted 5" in told) is bool(said)
    assert (f"does rs1 answer? 5 {said}" in page) is bool(said)
    assert ("not judged" in page) is ("not be seen" in told)
