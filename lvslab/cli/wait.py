"""lvslab wait: let time pass in a lab."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime

import click

from lvslab.cli.options import lab_option
from lvslab.errors import BadInput

UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
MAX_S = 10 * UNIT_S["d"]
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")


@click.command("wait")
@lab_option
@click.argument("duration", metavar="DURATION")
def command(lab: str | None, duration: str) -> None:
    """Let DURATION (900s, 15m, 24h, 2d; a number alone means seconds) pass in a lab that is up.

    Made with --time virtual, the lab's clock moves on as fast as it can; otherwise this takes as long as it says.
    """
    from lvslab.report.progress import make_progress
    from lvslab.running import attached, find_lab

    seconds = seconds_of(duration)
    record = find_lab(lab)
    progress = make_progress(sys.stderr, verbose=False)
    with attached(record) as running, progress.phase(f"{record.name}: {duration}"):
        now = running.sleep(seconds)
    click.echo(f"{record.name}: {duration} later, {datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} UTC")


def seconds_of(duration: str) -> float:
    """Return a duration in seconds. Raises BadInput."""
    match = _DURATION.fullmatch(duration)
    seconds = float(match[1]) * UNIT_S[match[2]] if match else 0.0
    if not 0 < seconds <= MAX_S:
        raise BadInput("not a duration", where="DURATION", expected="900, 15m, 24h, at most 10d", found=duration)
    return seconds
