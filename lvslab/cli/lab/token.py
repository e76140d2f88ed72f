"""lvslab lab token: the tokens that give each student a variant."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("token")
@click.option("--secret", "secret_path", metavar="FILE", required=True, help="The course's secret: any file you keep.")
@click.argument("students", metavar="STUDENT...", nargs=-1, required=True)
def command(secret_path: str, students: tuple[str, ...]) -> None:
    """Print a token for each student: with it `lab start` draws addresses, ports and orders of their own."""
    from lvslab.labs.plain_text import require_plain
    from lvslab.labs.secret import read_secret
    from lvslab.labs.variants import student_token

    secret = read_secret(Path(secret_path))
    names = [require_plain(student, "student's id") for student in students]
    for student in names:
        click.echo(f"{student}\t{student_token(secret, student)}")
