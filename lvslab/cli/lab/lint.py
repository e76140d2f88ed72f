"""lvslab lab lint: check labs without building them."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import complete_lab_id
from lvslab.cli.lines import print_aside, print_line


@click.command("lint")
@click.argument("wanted", metavar="[ID|FOLDER]...", nargs=-1, shell_complete=complete_lab_id)
def command(wanted: tuple[str, ...]) -> int:
    """Check labs' files, languages, hints, proofs and links; all shipped labs without names.

    No network is built and no command of a lab is run; but a lab's own checks.py is Python and is executed, so lint
    only labs whose authors you trust.
    """
    from lvslab.labs.lint import lint_lab
    from lvslab.labs.shipped import find_lab_folder, shipped_labs
    from lvslab.verify.expectations.base import count

    folders = [find_lab_folder(each) for each in wanted] or list(shipped_labs())
    faults = [fault for folder in folders for fault in lint_lab(folder)]
    for fault in faults:
        print_aside(fault.as_line())
    print_line(f"{count(len(folders), 'lab')}, {count(len(faults), 'fault') if faults else 'no faults'}")
    return 2 if faults else 0
