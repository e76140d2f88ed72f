"""lvslab lab test: prove labs on a real kernel."""

from __future__ import annotations

import sys

import click

from lvslab.cli.lab.options import complete_lab_id
from lvslab.cli.lines import print_line
from lvslab.cli.options import json_option, kernel_option, memory_option


@click.command("test")
@click.argument("wanted", metavar="[ID|FOLDER]...", nargs=-1, shell_complete=complete_lab_id)
@click.option("--seeds", metavar="N", type=click.IntRange(1, 1000), default=1, help="How many variants of each lab.")
@click.option("-v", "--verbose", is_flag=True, help="Show progress line by line.")
@kernel_option
@memory_option
@json_option
def command(
    wanted: tuple[str, ...], seeds: int, verbose: bool, kernel: str | None, memory_mib: int, json_path: str | None
) -> int:
    """Prove that the untouched lab fails, the solution passes twice, and each mistake trips its check."""
    import json
    from dataclasses import asdict

    from lvslab.labs.shipped import find_lab_folder, shipped_labs
    from lvslab.labs.trial import try_labs
    from lvslab.report.output import write_output
    from lvslab.report.progress import make_progress
    from lvslab.verify.expectations.base import count
    from lvslab.verify.result import Verdict

    folders = [find_lab_folder(each) for each in wanted] or list(shipped_labs())
    phase = make_progress(sys.stderr, verbose=verbose).phase
    trials = []
    for trial in try_labs(folders, seeds=seeds, kernel=kernel, memory_mib=memory_mib, phase=phase):
        trials.append(trial)
        sign = {Verdict.PASS: "✓", Verdict.FAIL: "✗"}.get(trial.verdict, "!")
        print_line(f"{sign} {trial.lab} [{trial.seed or '-'}] {trial.name}" + (f": {trial.said}" if trial.said else ""))
    if json_path is not None:
        write_output(json_path, (json.dumps([asdict(trial) for trial in trials], indent=1) + "\n").encode())
    worst = Verdict.of(trial.verdict for trial in trials)
    print_line(f"{count(len(folders), 'lab')}, {count(len(trials), 'proof')}: {worst}")
    return {Verdict.PASS: 0, Verdict.ERROR: 3}.get(worst, 1)
