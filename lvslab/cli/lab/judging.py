"""Judging the step one is at, and showing what came of it: for check and for answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.cli.lab.options import say, show, show_revealed

if TYPE_CHECKING:
    from lvslab.labs.session import Checked, Session
    from lvslab.labs.words import Language

STATUS = {"pass": 0, "fail": 1, "skip": 1, "error": 3}


def judge_here(session: Session, language: Language, pcap_path: str | None = None) -> int:
    """Judge, show, keep the capture if asked to, and return the exit status."""
    from lvslab.labs.session import check

    checked = check(session)
    show_checked(checked, language)
    if pcap_path is not None:
        _keep_capture(checked, pcap_path)
    return STATUS[checked.outcome.verdict.value]


def _keep_capture(checked: Checked, path: str) -> None:
    from lvslab.capture.pcapng import write_capture
    from lvslab.errors import BadInput
    from lvslab.lab import name_records

    if checked.capture is None:
        raise BadInput("nothing was captured: this step is judged without it", where="--pcap")
    write_capture(Path(path), checked.capture, names=name_records(checked.session.guided.topology))


def show_checked(checked: Checked, language: Language) -> None:
    from lvslab.labs.show import markdown, outcome_lines
    from lvslab.labs.words import words

    session = checked.session
    show(outcome_lines(checked.outcome, language))
    show_revealed(session, checked.revealed, language)
    if not checked.outcome.passed:
        return
    if session.finished:
        show("", markdown(session.guided.instructions[language].closing, language))
        text = words(
            "the lab is done: lvslab lab submit, lvslab lab stop", "实验完成：lvslab lab submit，lvslab lab stop"
        )
    else:
        text = words("done; go on: lvslab lab next", "完成；继续：lvslab lab next")
    say(text, language)
