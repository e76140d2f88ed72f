"""lvslab lab claims: what the labs' texts claim, and what proves it."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import complete_lab_id
from lvslab.cli.options import json_option


@click.command("claims")
@click.argument("wanted", metavar="[ID|FOLDER]...", nargs=-1, shell_complete=complete_lab_id)
@json_option
def command(wanted: tuple[str, ...], json_path: str | None) -> None:
    """List every claim that a lab's text proves, with the check, mistake, topology or test that does."""
    import json
    from dataclasses import asdict

    from lvslab.labs.claims import claims_table, proven_claims
    from lvslab.labs.shipped import find_lab_folder, shipped_labs
    from lvslab.report.output import write_output

    folders = [find_lab_folder(each) for each in wanted] or list(shipped_labs())
    found = [claim for folder in folders for claim in proven_claims(folder)]
    if json_path is not None:
        write_output(json_path, (json.dumps(list(map(asdict, found)), indent=1, ensure_ascii=False) + "\n").encode())
        return
    click.echo(claims_table(found), nl=False)
