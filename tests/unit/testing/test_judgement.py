"""Assertions about verdicts: a failure, a skip and an error are three different things."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lvslab.errors import BadInput, KernelFault
from lvslab.testing.judgement import JudgementUnderTest
from lvslab.verify.result import Result, TopologyResult, Verdict

Assertion = Callable[[JudgementUnderTest], object]


def judged(**verdicts: Verdict) -> JudgementUnderTest:
    results = tuple(Result(name, verdict, "one", f"seen by {name}") for name, verdict in verdicts.items())
    return JudgementUnderTest(TopologyResult("dr", "uml", "6.1", "netns", results))


GOOD = judged(arp=Verdict.PASS, scheduler=Verdict.SKIP)
BAD = judged(arp=Verdict.FAIL, scheduler=Verdict.PASS)
SKIPPED = judged(arp=Verdict.SKIP)


@pytest.mark.parametrize(
    ("judgement", "assertion"),
    [
        (GOOD, lambda it: it.passes()),
        (GOOD, lambda it: it.passes("arp")),
        (BAD, lambda it: it.fails()),
        (BAD, lambda it: it.fails("arp").passes("scheduler")),
    ],
)
def test_what_holds(judgement: JudgementUnderTest, assertion: Assertion) -> None:
    assertion(judgement)


@pytest.mark.parametrize(
    ("judgement", "assertion", "said"),
    [
        (GOOD, lambda it: it.fails(), "no expectation of dr failed"),
        (GOOD, lambda it: it.fails("arp"), "arp passed: seen by arp"),
        (GOOD, lambda it: it.passes("scheduler"), "scheduler was skipped"),
        (BAD, lambda it: it.passes(), "arp failed: seen by arp"),
        (BAD, lambda it: it.passes("arp"), "arp failed"),
        (BAD, lambda it: it.fails("scheduler"), "scheduler passed"),
        (SKIPPED, lambda it: it.passes(), "nothing could be judged"),
        (SKIPPED, lambda it: it.fails(), "no expectation of dr failed"),
    ],
)
def test_what_does_not_hold(judgement: JudgementUnderTest, assertion: Assertion, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        assertion(judgement)


@pytest.mark.parametrize("assertion", [lambda it: it.passes(), lambda it: it.fails(), lambda it: it.fails("arp")])
def test_what_could_not_be_judged_is_no_finding(assertion: Assertion) -> None:
    with pytest.raises(KernelFault, match="could not be judged"):
        assertion(judged(arp=Verdict.FAIL, capture=Verdict.ERROR))


def test_an_expectation_that_there_is_not() -> None:
    with pytest.raises(BadInput, match="did you mean 'scheduler'"):
        GOOD.passes("schedule")


def test_of_several_services_all_are_meant() -> None:
    results = (
        Result("arp-owner tcp/192.0.2.1:80", Verdict.PASS, "one", "two"),
        Result("arp-owner tcp/192.0.2.2:80", Verdict.FAIL, "one", "two"),
    )
    several = JudgementUnderTest(TopologyResult("dr", "uml", "6.1", "netns", results))
    several.fails("arp-owner tcp/192.0.2.2:80")
    with pytest.raises(AssertionError, match=r"192\.0\.2\.2:80 failed: two"):
        several.passes("arp-owner")
