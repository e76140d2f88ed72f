"""What all benchmarks share: options for their outputs, and showing what came out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lvslab.cli.options import json_option
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.bench.result import Benchmark
    from lvslab.report.progress import Progress

Command = TypeVar("Command", bound=Callable[..., Any])


def output_options(command: Command) -> Command:
    """Add --json and --svg."""
    svg = click.option("--svg", "svg_path", metavar="FILE", help="Draw the curves to FILE (- for stdout).")
    return json_option(svg(command))


def check_outputs_first(json_path: str | None, svg_path: str | None) -> Progress:
    """Refuse what cannot be written before minutes of work; return the progress to show. Raises BadInput."""
    from lvslab.report.output import STDOUT, check_outputs
    from lvslab.report.progress import make_progress

    if json_path == svg_path == STDOUT:
        raise BadInput("standard output takes one report", where="--json - --svg -", expected="a file for one of them")
    check_outputs({"--json": json_path, "--svg": svg_path})
    return make_progress(sys.stderr, verbose=False)


def show(benchmark: Benchmark, json_path: str | None, svg_path: str | None) -> None:
    """Write what was asked for, and print the tables unless something else goes to standard output."""
    from lvslab import __version__
    from lvslab.report.bench.json_document import benchmark_document
    from lvslab.report.bench.svg import draw_charts
    from lvslab.report.bench.terminal import render_benchmark
    from lvslab.report.console import make_console
    from lvslab.report.json_report import to_text
    from lvslab.report.output import STDOUT, write_output

    if json_path is not None:
        write_output(json_path, to_text(benchmark_document(benchmark, __version__)))
    if svg_path is not None:
        write_output(svg_path, draw_charts(benchmark).encode())
    if STDOUT not in (json_path, svg_path):
        make_console(sys.stdout).print(render_benchmark(benchmark))
