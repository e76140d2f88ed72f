"""lvslab new topology: begin a topology of one's own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from lvslab.authoring.choices import FAMILIES, SERVERS, Choices, Forwarding
from lvslab.cli.lines import print_line
from lvslab.errors import BadInput
from lvslab.topology.limits import SCHEDULERS
from lvslab.topology.model import Protocol

METHODS = click.Choice([each.value for each in Forwarding])
PROTOCOLS = click.Choice([each.value for each in Protocol])
QUESTIONS: dict[str, tuple[str, Any, Any]] = {
    "method": ("Forwarding method", METHODS, "dr"),
    "family": ("IP version", click.Choice(FAMILIES), "4"),
    "protocol": ("Protocol", PROTOCOLS, "tcp"),
    "scheduler": ("Scheduler", click.Choice(SCHEDULERS), "rr"),
    "servers": ("Real servers", click.IntRange(SERVERS.low, SERVERS.high), 2),
}
"""What is asked at a terminal when it was not given: the words, what may be answered, and what Enter answers."""


@click.command("topology")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--method", type=METHODS, help="Forwarding method.")
@click.option("--family", type=click.Choice(FAMILIES), help="IP version; default: 4.")
@click.option("--protocol", type=PROTOCOLS, help="Default: tcp.")
@click.option("--scheduler", metavar="NAME", type=click.Choice(SCHEDULERS), help="Default: rr.")
@click.option("--servers", metavar="N", type=click.IntRange(SERVERS.low, SERVERS.high), help="Default: 2.")
def command(file: Path | None, **given: Any) -> None:
    """Write a topology to FILE (mine.yaml) that can be verified as it is, and changed from there.

    At a terminal, what was not given is asked; elsewhere FILE and --method must be.
    """
    from lvslab.authoring.begin import begin_topology, check_name

    at_terminal = sys.stdin.isatty()
    if not at_terminal:
        _need(file, given["method"])
    path = file or Path(click.prompt("File", default="mine.yaml", err=True))
    name = path.name.partition(".")[0]
    check_name(name, str(path))
    if not path.suffix:
        path = path.with_suffix(".yaml")
    answers = {key: _answer(key, at_terminal) if value is None else value for key, value in given.items()}
    begin_topology(
        path,
        Choices(
            name,
            Forwarding(answers["method"]),
            answers["family"],
            Protocol(answers["protocol"]),
            answers["scheduler"],
            answers["servers"],
        ),
    )
    print_line(path)
    word = shlex.quote(str(path))
    print_line(f"next: lvslab verify {word} · lvslab lint --watch {word} (docs/first-topology.md)")


def _need(file: Path | None, method: str | None) -> None:
    missing = [] if file else ["FILE"]
    missing += [] if method else [f"--method {'|'.join(Forwarding)}"]
    if missing:
        raise BadInput("there is no terminal to ask at", expected=" and ".join(missing))


def _answer(key: str, at_terminal: bool) -> Any:
    words, answers, usual = QUESTIONS[key]
    return click.prompt(words, type=answers, default=usual, err=True) if at_terminal else usual
