"""What several verbs of `lvslab lab` share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lvslab.cli.lines import print_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lvslab.labs.judge import StepOutcome
    from lvslab.labs.session import Session
    from lvslab.labs.words import Language, Words

Command = TypeVar("Command", bound=Callable[..., Any])


def complete_lab_id(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the names of the shipped labs."""
    from lvslab.labs.shipped import shipped_labs

    return [folder.name for folder in shipped_labs() if folder.name.startswith(incomplete)]


def language_option(command: Command) -> Command:
    """Add --lang, as `language`: en or zh, or None for the reader's own."""
    option = click.option(
        "--lang",
        "language",
        type=click.Choice(["en", "zh"]),
        help="Language; default: as at lab start, else as LANG says.",
    )
    return option(command)


def which_option(command: Command) -> Command:
    """Add --lab, as `wanted`."""
    option = click.option(
        "--lab", "wanted", metavar="ID", shell_complete=complete_lab_id, help="Which lab; default: the last one."
    )
    return option(command)


def chosen_language(language: str | None, session: Session | None = None) -> Language:
    """Return the language asked for, else the one that the lab was begun in, else the reader's own."""
    from lvslab.labs.words import Language, preferred_language

    chosen = language or (session.progress.language if session else "")
    return Language(chosen) if chosen else preferred_language()


def show(*parts: RenderableType) -> None:
    from lvslab.report.console import make_console

    console = make_console(sys.stdout)
    for part in parts:
        console.print(part)


def say(text: Words, language: Language) -> None:
    print_line(text.in_(language))


def show_revealed(session: Session, revealed: Iterable[StepOutcome], language: Language) -> None:
    """Show each prediction that was made beside what has been seen, or why nothing was."""
    from lvslab.labs.show import comparison, without_comparison

    for seen in revealed:
        kept = session.progress.step(seen.step.id)
        if kept.answer is None:
            continue
        if kept.observed is None:
            show("", without_comparison(seen, kept.answer, language))
        else:
            show("", comparison(seen.step, kept.answer, kept.observed, kept.observed_at, language))


def show_step(session: Session, language: Language) -> None:
    from lvslab.labs.show import step_text

    show(step_text(session.guided, session.here, language))
