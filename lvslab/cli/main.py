"""The command's entry: finds the verb, runs it, turns every error into one line and an exit status."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from lvslab import __version__
from lvslab.cli.lazy import LazyGroup
from lvslab.cli.lines import print_aside
from lvslab.errors import LvslabError

VERBS = {
    "lab": "Learn step by step: guided labs with tasks, predictions, checks and hints.",
    "verify": "Build clusters on a real kernel, send traffic, and judge what the packets did.",
    "walk": "Show one connection's packets hop by hop, and what changed at each hop.",
    "connections": "Show a director's connection table, and which packet made which state.",
    "up": "Build a topology and leave it up.",
    "ps": "List the labs that are up.",
    "exec": "Run a program in a node of a lab that is up.",
    "wait": "Let time pass in a lab that is up.",
    "capture": "Capture packets of a lab that is up, as they come.",
    "shell": "Open a terminal on a node.",
    "mininet": "Open Mininet's own command line on a lab that Mininet built.",
    "save": "Print a director's table as text to restore it from.",
    "down": "End a lab.",
    "plan": "List the steps that build a topology, or the commands to type.",
    "predict": "Show which server a topology's next connections go to, and why.",
    "schedule": "Show what a scheduler does with given weights, step by step.",
    "graph": "Draw a topology: in the terminal, as Mermaid or as SVG.",
    "new": "Begin a topology of your own.",
    "lint": "Check topologies and directors' configurations without running anything.",
    "import": "Make a topology of a director's configuration, or of a Mininet Topo.",
    "export": "Write a topology for another engine.",
    "topologies": "List the topologies that come with lvslab.",
    "schema": "Print the JSON Schema of topology files, for an editor too, or of verify's JSON.",
    "bench": "Measure what the papers claim in figures.",
    "kernel": "Build a User-Mode Linux kernel for labs, and choose among those there are.",
    "doctor": "Show what this machine offers and what is missing.",
    "clean": "Remove what labs left that were killed.",
}
INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141
OUR_FAULT = 3
BAD_USAGE = 2
CANNOT_WRITE = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT)


class _ReaderGone(Exception):
    """What reads our output has seen enough. Not an OSError: click would leave with status 1, "a check failed"."""


@contextmanager
def _reader_noticed() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error


class MainGroup(LazyGroup):
    """Notices when what reads our output has gone."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _reader_noticed():  # --help prints from here
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _reader_noticed():
            status = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        return status


@click.group(cls=MainGroup, verbs=VERBS, package="lvslab.cli", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lvslab")
def cli() -> None:
    """Linux Virtual Server clusters on a real kernel: built, driven, captured, judged."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit status."""
    if sys.stdout is None:
        print_aside("standard output is closed: expected somewhere to print to")
        sys.exit(BAD_USAGE)
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(_status(argv))


class Terminated(BaseException):
    """We were told to end (SIGTERM). Like KeyboardInterrupt, it passes everything that only means to catch faults."""


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated


def _status(argv: Sequence[str] | None) -> int:
    try:
        status = cli.main(args=argv, prog_name="lvslab", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        print_aside(_in_one_line(error))
        return error.exit_code
    except LvslabError as error:
        print_aside(str(error))
        return error.exit_status
    except (KeyboardInterrupt, click.Abort, Terminated) as ended:
        terminated = isinstance(ended, Terminated)
        print_aside("terminated" if terminated else "interrupted")
        return TERMINATED if terminated else INTERRUPTED
    except _ReaderGone:
        _forget_output()
        return BROKEN_PIPE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in CANNOT_WRITE and error.filename is None:
            print_aside(f"cannot write to standard output: {error.strerror}")
            _forget_output()
            return BAD_USAGE
        if os.environ.get("LVSLAB_DEBUG"):
            raise
        print_aside(
            f"a fault of lvslab's own: {type(error).__name__}: {error}; set LVSLAB_DEBUG=1 to see where, and report it"
        )
        return OUR_FAULT
    return status if isinstance(status, int) else 0


def _in_one_line(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message}; see {context.command_path} --help" if context else message


def _forget_output() -> None:
    """Python's own flush at exit must not complain either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
