"""Lab 2's slow call, as its text has it: answered for as long as no redirect breaks the connection in its middle."""

from __future__ import annotations

import re
import shlex

import pytest

from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.lab import Lab
from lvslab.labs.keyboard import type_lines
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import fresh_lab, open_ready_kernel
from lvslab.labs.model import GuidedLab
from lvslab.labs.shipped import find_lab_folder
from lvslab.labs.solution import solution_of
from lvslab.labs.words import Language

pytestmark = pytest.mark.kernel
ANSWERED = "HTTP/1.1 200 OK"
TIMES = 4


def slow_call(guided: GuidedLab, language: Language) -> list[str]:
    text = guided.instructions[language].steps["one-arm"]
    found = re.search(r"^lvslab exec insider -- (timeout .*)$", text, re.MULTILINE)
    assert found is not None
    assert ANSWERED in text, "the text says what success looks like"
    return shlex.split(found[1])


def printed(lab: Lab, call: list[str]) -> list[str]:
    return [lab.node("insider").run(*call).output.strip() for _ in range(TIMES)]


def test_the_slow_call_breaks_before_the_cure_and_works_after_it(kernel_kind: str) -> None:
    guided = load_lab(find_lab_folder("2"))
    call = slow_call(guided, Language.ENGLISH)
    assert slow_call(guided, Language.CHINESE) == call
    with open_ready_kernel(kernel_kind, memory_mib=DEFAULT_MEMORY_MIB) as running, fresh_lab(running, guided) as lab:
        for step in guided.steps[:-1]:
            type_lines(lab, solution_of(guided, step.id).lines, lambda _: None)
        cure = solution_of(guided, "one-arm").lines
        route = [line for line in cure if line.text.startswith("ip route replace")]
        assert route
        type_lines(lab, route, lambda _: None)
        before = printed(lab, call)
        assert "" in before, "a redirect breaks the connection"

        type_lines(lab, cure, lambda _: None)
        assert printed(lab, call) == [ANSWERED] * TIMES
