"""lvslab lint: check topologies and directors' configurations."""

from __future__ import annotations

import click

from lvslab.errors import BadInputs


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def command(files: tuple[str, ...]) -> None:
    """Check files and say what is wrong, with file and line. Exit status 2 if anything is; warnings alone are none.

    A file is a topology, what ipvsadm-save -n or ipvsadm -Ln printed, or a keepalived.conf; its content tells.
    """
    from lvslab.importing.configuration import Format
    from lvslab.importing.lint import lint_file

    linted = [lint_file(file) for file in files]
    for file, each in zip(files, linted, strict=True):
        if each.format not in (None, Format.TOPOLOGY):
            click.echo(f"{file}: {each.format}")
        for warning in each.warnings:
            click.echo(f"lvslab: {warning.as_line()}", err=True)
    faults = tuple(fault for each in linted for fault in each.faults)
    if faults:
        raise BadInputs(faults)
    warnings = sum(len(each.warnings) for each in linted)
    click.echo(f"{len(files)} checked, no faults" + (f", {warnings} to look at" if warnings else ""))
