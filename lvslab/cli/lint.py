"""lvslab lint: check topologies and directors' configurations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from lvslab.cli.lines import print_aside, print_line
from lvslab.errors import BadInput, BadInputs


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
def command(files: tuple[str, ...], watch: bool) -> None:
    """Check files and say what is wrong, with file and line. Exit status 2 if anything is; warnings alone are none.

    A file is a topology, what ipvsadm-save -n or ipvsadm -Ln printed, or a keepalived.conf; its content tells.
    """
    if watch:
        _watch(files)
    else:
        _lint(files)


def _watch(files: Sequence[str]) -> None:
    from lvslab.authoring.watch import each_change

    with suppress(KeyboardInterrupt):
        for _ in each_change([_path(file) for file in files]):
            print_line(f"── {time.strftime('%H:%M:%S')}")
            try:
                _lint(files)
            except BadInputs as faults:
                print_aside(str(faults))


def _path(file: str) -> Path:
    """Return what is to be watched; a file need not be there yet."""
    from lvslab.topology.shipped import find

    try:
        return find(file)
    except BadInput:
        return Path(file)


def _lint(files: Sequence[str]) -> None:
    """Check once, and say so. Raises BadInputs."""
    from lvslab.importing.configuration import Format
    from lvslab.importing.lint import lint_file

    linted = [lint_file(file) for file in files]
    for file, each in zip(files, linted, strict=True):
        if each.format not in (None, Format.TOPOLOGY):
            print_line(f"{file}: {each.format}")
        for warning in each.warnings:
            print_aside(warning.as_line())
    faults = tuple(fault for each in linted for fault in each.faults)
    if faults:
        raise BadInputs(faults)
    warnings = sum(len(each.warnings) for each in linted)
    print_line(f"{len(files)} checked, no faults" + (f", {warnings} to look at" if warnings else ""))
