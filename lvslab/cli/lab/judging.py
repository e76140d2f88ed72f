"""Judging the step one is at, and showing what came of it: for check and for answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lvslab.cli.lab.options import say, show

if TYPE_CHECKING:
    from lvslab.labs.session import Checked, Session
    from lvslab.labs.words import Language

STATUS = {"pass": 0, "fail": 1, "skip": 1, "error": 3}


def judge_here(session: Session, language: Language) -> int:
    """Judge, show, and return the exit status."""
    from lvslab.labs.session import check

    checked = check(session)
    show_checked(checked, language)
    return STATUS[checked.outcome.verdict.value]


def show_checked(checked: Checked, language: Language) -> None:
    from lvslab.labs.show import comparison, outcome_lines
    from lvslab.labs.words import words

    session = checked.session
    show(outcome_lines(checked.outcome, language))
    for seen in checked.revealed:
        kept = session.progress.step(seen.step.id)
        if kept.observed is not None:
            show("", comparison(seen.step, kept.answer or "-", kept.observed, kept.observed_at, language))
    if not checked.outcome.passed:
        return
    if session.finished:
        text = words(
            "the lab is done: lvslab lab submit, lvslab lab stop", "实验完成：lvslab lab submit，lvslab lab stop"
        )
    else:
        text = words("done; go on: lvslab lab next", "完成；继续：lvslab lab next")
    say(text, language)
