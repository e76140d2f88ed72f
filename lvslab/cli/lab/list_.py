"""lvslab lab list: the labs there are."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show
from lvslab.cli.lines import print_aside
from lvslab.cli.options import json_option


@click.command("list")
@language_option
@json_option
def command(language: str | None, json_path: str | None) -> int:
    """List the labs there are, with how far you have come in each.

    Exit status 2 or 3 if what is kept of one cannot be read; all are listed even so.
    """
    import json

    from lvslab.errors import LvslabError
    from lvslab.labs.loading import load_lab
    from lvslab.labs.progress import read_progress
    from lvslab.labs.shipped import shipped_labs
    from lvslab.labs.show import steps_done, was_given_up
    from lvslab.labs.words import words
    from lvslab.report.output import write_output

    spoken = chosen_language(language)
    rows = []
    faults: list[LvslabError] = []
    for folder in shipped_labs():
        guided = load_lab(folder)
        progress = fault = None
        try:
            progress = read_progress(guided.id)
        except LvslabError as unread:
            fault = str(unread)
            faults.append(unread)
        kept = [progress.step(step.id) for step in guided.steps] if progress else []
        rows.append(
            {
                "id": guided.id,
                "title": guided.title.in_(spoken),
                "goal": guided.goal.in_(spoken),
                "minutes": guided.minutes,
                "points": guided.points,
                "steps": len(guided.steps),
                "done": None if fault else sum(step.done for step in kept),
                "given_up": None if fault else sum(map(was_given_up, kept)),
                "fault": fault,
            }
        )
    for error in faults:
        print_aside(str(error))
    status = max((error.exit_status for error in faults), default=0)
    if json_path is not None:
        write_output(json_path, (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode())
        return status
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for row in rows:
        here = ""
        if row["fault"]:
            here = words("cannot be read", "读不出来").in_(spoken)
        elif row["done"]:
            here = steps_done(int(str(row["done"])), int(str(row["steps"])), int(str(row["given_up"]))).in_(spoken)
        table.add_row(Text(str(row["id"])), Text(str(row["title"])), f"{row['minutes']} min", here)
    show(table)
    return status
