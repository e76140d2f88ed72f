"""Typing a transcript into a running lab, as a student would."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lvslab.errors import KernelFault
from lvslab.lab import Lab
from lvslab.labs.transcript import Line, Typed

LINE_TIMEOUT_S = 120.0
_LONGEST = 300


def type_lines(lab: Lab, lines: Iterable[Line], answer: Callable[[Line], None]) -> None:
    """Run each line where it belongs; answers and predictions are handed to `answer`.

    Raises KernelFault, naming the line, for a command that fails: a transcript is to work as it stands.
    """
    for line in lines:
        match line.kind:
            case Typed.NODE:
                _run(lab, line)
            case Typed.WAIT:
                lab.sleep(float(line.text))
            case _:
                answer(line)


def _run(lab: Lab, line: Line) -> None:
    finished = lab.node(line.node).run("bash", "-c", line.text, timeout_s=LINE_TIMEOUT_S)
    if finished.status != 0:
        raise KernelFault(
            f"{line.node}# {line.text}",
            where=line.where,
            expected="exit status 0",
            found=f"{finished.status}, {' '.join(finished.output.split())[:_LONGEST] or 'no output'}",
        )
