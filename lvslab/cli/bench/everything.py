"""lvslab bench alone: all benchmarks, and one table of their ratios."""

from __future__ import annotations

import sys

from lvslab.cli.bench.outputs import check_outputs_first


def run_all(kernel: str | None, json_path: str | None) -> None:
    """Run everything, write the JSON that was asked for, and print the table unless JSON goes to standard output."""
    from lvslab import __version__
    from lvslab.bench.everything import run
    from lvslab.report.bench.all_documents import all_document
    from lvslab.report.bench.terminal import render_all
    from lvslab.report.console import make_console
    from lvslab.report.json_report import to_text
    from lvslab.report.output import STDOUT, write_output

    outcome = run(kernel, check_outputs_first(json_path, None).phase)
    if json_path is not None:
        write_output(json_path, to_text(all_document(outcome, __version__)))
    if json_path != STDOUT:
        make_console(sys.stdout).print(render_all(outcome))
