"""Judging steps on a running lab: tasks by their checks, questions and predictions by what is observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lvslab.errors import LvslabError
from lvslab.labs.answers import agree, is_address
from lvslab.labs.finding import Finding, failed, in_error, passed
from lvslab.labs.model import Check, GuidedLab, Observation, Step, StepKind
from lvslab.labs.registry import Observed, Registry, Unseen, registry_of
from lvslab.labs.view import View
from lvslab.labs.words import NOTHING, Words, same, words
from lvslab.verify.result import Verdict

_NOT_OF_STUDENTS = (LvslabError, LookupError, ValueError, TypeError, AttributeError)
"""What a check may raise when it, the lab or the environment is at fault."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    check: str
    finding: Finding
    why: Words = NOTHING


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One step, judged. `observed` is what a question or prediction was compared with."""

    step: Step
    checks: tuple[CheckOutcome, ...]
    observed: Observed | None = None
    agrees: bool | None = None
    """Whether an answer is what was observed; None without an answer."""

    @property
    def verdict(self) -> Verdict:
        return Verdict.of(outcome.finding.verdict for outcome in self.checks)

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def first_failure(self) -> CheckOutcome | None:
        return next((outcome for outcome in self.checks if not outcome.finding.passed), None)


class Judge:
    """Judges the steps of one lab, all on one view of it."""

    def __init__(self, guided: GuidedLab, view: View, answers: Mapping[str, str]) -> None:
        self._registry: Registry = registry_of(guided.folder)
        self._view = view
        self._answers = answers
        self._guided = guided

    def judge(self, steps: Sequence[Step]) -> tuple[StepOutcome, ...]:
        """Return one outcome per step, in order; predictions are compared, and count for nothing."""
        return tuple(self.judge_step(step) for step in steps)

    def judge_step(self, step: Step) -> StepOutcome:
        before = tuple(self._checks(step.checks))
        if step.kind is StepKind.TASK or not all(outcome.finding.passed for outcome in before):
            return StepOutcome(step, before)
        compared = self._compared(step)
        return replace(compared, checks=before + compared.checks)

    def judge_each(self, step: Step) -> tuple[CheckOutcome, ...]:
        """Judge every check of a step, also those after the first failure."""
        each = tuple(map(self._check, step.checks))
        return each if step.kind is StepKind.TASK else each + self._compared(step).checks

    def _checks(self, checks: Sequence[Check]) -> list[CheckOutcome]:
        """Judge up to the first check that does not pass: what comes after it mostly follows from it."""
        outcomes: list[CheckOutcome] = []
        for check in checks:
            outcomes.append(self._check(check))
            if not outcomes[-1].finding.passed:
                break
        return outcomes

    def _check(self, check: Check) -> CheckOutcome:
        try:
            finding = self._registry.checks[check.name].judge(self._view, check.arguments)
        except _NOT_OF_STUDENTS as error:
            finding = in_error(same(check.id), _reason(error), "lvslab lab reset, then check again")
        return CheckOutcome(check.id, finding, check.why or NOTHING)

    def _compared(self, step: Step) -> StepOutcome:
        given = self._answers.get(step.id)
        asked = step.ask or step.title
        if given is None:
            verb = "answer" if step.kind is StepKind.QUESTION else "predict"
            missing = failed(asked, words("no answer yet", "还没有回答"), next_step=same(f"lvslab lab {verb} …"))
            return StepOutcome(step, (CheckOutcome(step.id, missing),))
        try:
            observed = self._observe(step.observation) if step.observation else None
        except _NOT_OF_STUDENTS as error:
            return StepOutcome(step, (CheckOutcome(step.id, in_error(asked, _reason(error))),))
        if not isinstance(observed, Observed):
            return StepOutcome(step, (CheckOutcome(step.id, _not_seen(step, asked, observed or Unseen())),))
        agrees = agree(step, given, observed.value)
        finding = self._answered(step, asked, given, observed, agrees=agrees)
        return StepOutcome(step, (CheckOutcome(step.id, finding),), observed, agrees)

    @staticmethod
    def _answered(step: Step, asked: Words, given: str, observed: Observed, *, agrees: bool) -> Finding:
        if step.kind is StepKind.PREDICTION or agrees:
            return passed(asked, same(observed.value), observed.where, observed.frames)
        if is_address(observed.value) and not is_address(given):
            seen = words("your answer {given} is no address", "你的回答 {given} 不是地址", given=given)
            return failed(asked, seen, next_step=words("write the address", "请写出地址"))
        # What is right is not told: it is there to be found.
        seen = words(
            "your answer {given} is not what the lab shows", "你的回答 {given} 与实验中看到的不符", given=given
        )
        return failed(asked, seen, next_step=words("look again, or lvslab lab hint", "再看一看，或者 lvslab lab hint"))

    def _observe(self, observation: Observation) -> Observed | Unseen | None:
        return self._registry.observations[observation.name].observe(self._view, observation.arguments)


def _not_seen(step: Step, asked: Words, unseen: Unseen) -> Finding:
    """Return that there is nothing to compare with; of a prediction the step that asks for more is over."""
    seen = words("this cannot be seen in the lab as it is now", "在实验现在的状态下看不到这一点")
    if unseen.instead:
        seen = words("{seen}: {instead}", "{seen}：{instead}", seen=seen, instead=unseen.instead)
    do = words("first do what this step asks for (lvslab lab read)", "先按这一步的要求去做（lvslab lab read）")
    return failed(asked, seen, unseen.where, next_step=do if step.kind is StepKind.QUESTION else NOTHING)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, LvslabError) else f"{type(error).__name__}: {error}"
