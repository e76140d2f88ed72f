"""lvslab lab submit: the file for the instructor."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import which_option
from lvslab.cli.lines import print_line


@click.command("submit")
@which_option
@click.option("-o", "path", metavar="FILE", help="Where to; default: LAB-STUDENT.lvslab.json here; - for stdout.")
def command(wanted: str | None, path: str | None) -> None:
    """Write what you have made of the lab as one file; your instructor's machine can do it again.

    An earlier file of yours is replaced, and no other.
    """
    import re

    from lvslab.labs.session import open_session
    from lvslab.labs.submission import SUFFIX, is_submission_of, submission_text
    from lvslab.report.output import write_new, write_output

    session = open_session(wanted)
    student = re.sub(r"[^A-Za-z0-9._-]", "_", session.progress.student) or "student"
    target = path or f"{session.guided.id}-{student}{SUFFIX}"
    write = write_output if is_submission_of(session.progress, target) else write_new
    write(target, submission_text(session).encode())
    if target != "-":
        undone = [step.id for step in session.guided.steps if not session.progress.step(step.id).done]
        print_line(click.format_filename(target) + (f" (not done: {', '.join(undone)})" if undone else ""))
