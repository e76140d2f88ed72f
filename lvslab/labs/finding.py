"""What a check found: a verdict, and in the student's language where, what was expected and what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lvslab.labs.verdict_words import in_both_languages
from lvslab.labs.words import NOTHING, Words, same
from lvslab.verify.result import Result, Verdict

_LOOK = Words("lvslab lab walk shows the packets; lvslab lab hint", "lvslab lab walk 显示数据包的去向；lvslab lab hint")


@dataclass(frozen=True, slots=True)
class Finding:
    """A check, judged. An error is ours or the environment's and never the student's fault."""

    verdict: Verdict
    expected: Words
    seen: Words
    where: str = ""
    cause: Words = NOTHING
    next: Words = NOTHING
    frames: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASS


def passed(expected: Words, seen: Words, where: str = "", frames: Sequence[int] = ()) -> Finding:
    return Finding(Verdict.PASS, expected, seen, where, frames=tuple(frames))


def failed(
    expected: Words,
    seen: Words,
    where: str = "",
    *,
    cause: Words = NOTHING,
    next_step: Words = NOTHING,
    frames: Sequence[int] = (),
) -> Finding:
    return Finding(Verdict.FAIL, expected, seen, where, cause, next_step, tuple(frames))


def judged(holds: bool, expected: Words, seen: Words, where: str = "", *, next_step: Words = NOTHING) -> Finding:
    """Return a pass or a failure by whether it holds."""
    if holds:
        return passed(expected, seen, where)
    return failed(expected, seen, where, next_step=next_step)


def in_error(expected: Words, reason: str, next_step: str = "") -> Finding:
    """Return what could not be judged, through no fault of the student's."""
    return Finding(Verdict.ERROR, expected, same(reason), next=same(next_step))


def of_result(result: Result) -> Finding:
    """Return an expectation's result as a finding. What could not be judged has not passed.

    Its cause and cure are left out: finding them is the student's part, and hints are there to be asked for.
    """
    verdict = Verdict.FAIL if result.verdict is Verdict.SKIP else result.verdict
    seen, expected = in_both_languages(result.seen or result.cause), in_both_languages(result.expected)
    look = NOTHING if result.verdict is Verdict.PASS else _LOOK
    return Finding(verdict, expected, seen, result.where, next=look, frames=result.frames)
