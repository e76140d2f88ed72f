"""lvslab lab grade: run submissions again and grade them."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from lvslab.cli.lab.options import show
from lvslab.cli.options import json_option, memory_option


@click.command("grade")
@click.argument("folder", metavar="FOLDER|FILE...", nargs=-1, required=True)
@click.option("--secret", "secret_path", metavar="FILE", help="The course's secret: refuse variants of others.")
@click.option(
    "--share", metavar="INDEX/COUNT", default="0/1", help="Grade one share of them: 0/20 to 19/20 on twenty machines."
)
@click.option("--csv", "csv_path", metavar="FILE", help="Write a table of points to FILE (- for stdout).")
@click.option("--junit", "junit_path", metavar="FILE", help="Write JUnit XML to FILE (- for stdout).")
@click.option("--kernel", metavar="uml[:RELEASE]", default="uml", help="Which User-Mode Linux kernel.")
@click.option(
    "--labs", "labs_folder", metavar="FOLDER", help="Where the labs are; default: those that come with lvslab."
)
@json_option
@memory_option
def command(
    folder: tuple[str, ...],
    secret_path: str | None,
    share: str,
    csv_path: str | None,
    junit_path: str | None,
    kernel: str,
    labs_folder: str | None,
    json_path: str | None,
    memory_mib: int,
) -> int:
    """Do submissions again, each step on a fresh network in a kernel booted for it, and write a table of points.

    Of a submission only commands that `lvslab lab submit` writes are done: they set up a node's network, and run no
    program of the student's. They never run on this machine's own kernel.
    """
    from lvslab.errors import BadInput
    from lvslab.labs.grade import grade_all, read_all
    from lvslab.labs.grade_report import grades_csv, grades_json, grades_junit, grades_table
    from lvslab.labs.machine import open_ready_kernel
    from lvslab.labs.secret import read_secret
    from lvslab.labs.share import parse_share
    from lvslab.labs.shipped import shipped_folder
    from lvslab.labs.submission import SUFFIX
    from lvslab.report.output import check_outputs, write_output
    from lvslab.report.progress import make_progress
    from lvslab.verify.result import Verdict

    check_outputs({"--json": json_path, "--csv": csv_path, "--junit": junit_path})
    if kernel.partition(":")[0] != "uml":
        raise BadInput("submissions are not run on this machine's own kernel", where="--kernel", expected="uml")
    own = parse_share(share)
    secret = read_secret(Path(secret_path)) if secret_path else None
    paths = [
        path
        for each in folder
        for path in (sorted(Path(each).glob(f"*{SUFFIX}")) if Path(each).is_dir() else [Path(each)])
    ]
    if not paths:
        raise BadInput("no submissions are here", where=", ".join(folder), expected=f"files *{SUFFIX}")
    labs = Path(labs_folder) if labs_folder else shipped_folder()
    submissions, grades = read_all(own.pick(paths))
    phase = make_progress(sys.stderr, verbose=False).phase
    opened = partial(open_ready_kernel, kernel, memory_mib=memory_mib)
    try:
        grades.extend(grade_all(opened, submissions, secret, labs, phase))
    finally:
        # What was graded before Ctrl-C, or before a fault, is not lost.
        show(grades_table(grades))
        for path, write in ((json_path, grades_json), (csv_path, grades_csv), (junit_path, grades_junit)):
            if path is not None:
                write_output(path, write(grades).encode())
    return 3 if any(grade.verdict is Verdict.ERROR for grade in grades) else 0
