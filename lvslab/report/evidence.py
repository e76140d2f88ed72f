"""The facts of one expectation in the order people need them, the same in every report."""

from __future__ import annotations

from lvslab.report.printable import printable
from lvslab.verify.result import Result


def facts(result: Result, *, most_frames: int | None = None) -> tuple[tuple[str, str], ...]:
    """Return (label, text) pairs: where, expected, seen, cause, next, frames; empty ones are left out.

    `most_frames` limits how many frame numbers are listed before "and N more".
    """
    pairs = (
        ("where", result.where),
        ("expected", result.expected),
        ("seen", result.seen),
        ("cause", result.cause),
        ("next", result.next),
        ("frames", _frame_list(result.frames, most_frames)),
    )
    return tuple((label, printable(text)) for label, text in pairs if text)


def _frame_list(frames: tuple[int, ...], most: int | None) -> str:
    listed = ", ".join(str(number) for number in frames[:most])
    hidden = 0 if most is None else len(frames) - most
    return f"{listed} and {hidden} more" if hidden > 0 else listed
