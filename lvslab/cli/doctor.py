"""lvslab doctor: what this machine offers."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

from lvslab.cli.options import json_option


@click.command("doctor")
@json_option
def command(json_path: str | None) -> int:
    """Show what this machine offers, which kernel will be used, and the cure for what is missing.

    Exit status 3 if no kernel can be used.
    """
    from lvslab.kernels.probe import chosen_kernel, examine_machine
    from lvslab.report.output import write_output

    findings, chosen = examine_machine(), chosen_kernel()
    if json_path is not None:
        document = {
            "kernel": dataclasses.asdict(chosen),
            "findings": [dataclasses.asdict(finding) for finding in findings],
        }
        write_output(json_path, json.dumps(document, indent=2).encode() + b"\n")
    if json_path != "-":
        from lvslab.report.doctor_terminal import render_findings
        from lvslab.report.terminal import make_console

        make_console(sys.stdout).print(render_findings(findings, chosen))
    return 0 if chosen.ok else 3
