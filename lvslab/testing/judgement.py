"""Assertions about the verdicts of ``lvslab verify``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from lvslab.errors import BadInput, KernelFault
from lvslab.topology.wording import did_you_mean, one_of
from lvslab.verify.result import Verdict

if TYPE_CHECKING:
    from lvslab.verify.result import Result, TopologyResult


class JudgementUnderTest:
    """Every expectation, judged. What could not be judged is no failure: then KernelFault is raised."""

    def __init__(self, result: TopologyResult) -> None:
        self.result = result

    def passes(self, *names: str) -> Self:
        """Assert that these expectations passed; without names, that some did and none failed."""
        __tracebackhide__ = True
        self._need_verdicts()
        if not names and self.result.verdict is not Verdict.PASS:
            failed = [each for each in self.result.expectations if each.verdict is Verdict.FAIL]
            raise AssertionError("; ".join(map(_line, failed)) or "nothing could be judged")
        self._assert_all(names, Verdict.PASS)
        return self

    def fails(self, *names: str) -> Self:
        """Assert that these expectations failed; without names, that any did."""
        __tracebackhide__ = True
        self._need_verdicts()
        if not names and self.result.verdict is not Verdict.FAIL:
            raise AssertionError(f"no expectation of {self.result.topology} failed")
        self._assert_all(names, Verdict.FAIL)
        return self

    def _assert_all(self, names: tuple[str, ...], wanted: Verdict) -> None:
        __tracebackhide__ = True
        other = [each for name in names for each in self._named(name) if each.verdict is not wanted]
        if other:
            raise AssertionError("; ".join(map(_line, other)))

    def _named(self, name: str) -> list[Result]:
        """Return the expectation of this name, of every service if there are several."""
        found = [each for each in self.result.expectations if name in (each.name, each.name.partition(" ")[0])]
        if not found:
            known = tuple(dict.fromkeys(each.name for each in self.result.expectations))
            raise BadInput(
                f"no expectation {name!r}",
                where=self.result.topology,
                expected=one_of(known),
                next_step=did_you_mean(name, known),
            )
        return found

    def _need_verdicts(self) -> None:
        errors = list(self._errors())
        if errors:
            raise KernelFault("could not be judged", where=self.result.topology, found="; ".join(errors))

    def _errors(self) -> Iterator[str]:
        return (_line(each) for each in self.result.expectations if each.verdict is Verdict.ERROR)


def _line(result: Result) -> str:
    at = f" at {result.where}" if result.where else ""
    why = f" ({result.cause})" if result.cause else ""
    return f"{result.name} {_WORDS[result.verdict]}{at}: {result.seen or result.expected}{why}"


_WORDS = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.SKIP: "was skipped", Verdict.ERROR: "is in error"}
