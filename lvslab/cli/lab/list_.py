"""lvslab lab list: the labs there are."""

from __future__ import annotations

import click

from lvslab.cli.lab.options import chosen_language, language_option, show
from lvslab.cli.options import json_option


@click.command("list")
@language_option
@json_option
def command(language: str | None, json_path: str | None) -> None:
    """List the labs there are, with how far you have come in each."""
    import json

    from lvslab.labs.loading import load_lab
    from lvslab.labs.progress import read_progress
    from lvslab.labs.shipped import shipped_labs
    from lvslab.labs.show import steps_done, was_given_up
    from lvslab.report.output import write_output

    spoken = chosen_language(language)
    rows = []
    for folder in shipped_labs():
        guided = load_lab(folder)
        progress = read_progress(guided.id)
        kept = [progress.step(step.id) for step in guided.steps] if progress else []
        rows.append(
            {
                "id": guided.id,
                "title": guided.title.in_(spoken),
                "goal": guided.goal.in_(spoken),
                "minutes": guided.minutes,
                "points": guided.points,
                "steps": len(guided.steps),
                "done": sum(step.done for step in kept),
                "given_up": sum(map(was_given_up, kept)),
            }
        )
    if json_path is not None:
        write_output(json_path, (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode())
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for row in rows:
        done = steps_done(int(str(row["done"])), int(str(row["steps"])), int(str(row["given_up"])))
        here = done.in_(spoken) if row["done"] else ""
        table.add_row(Text(str(row["id"])), Text(str(row["title"])), f"{row['minutes']} min", here)
    show(table)
