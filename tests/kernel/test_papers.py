"""The commands of docs/papers.md do what that page says: they pass, or fail at the expectations it names."""

from __future__ import annotations

import pytest

from lvslab.cli import plan
from lvslab.cli.options import parameters
from lvslab.lab import Lab
from lvslab.verify.result import TopologyResult, Verdict
from tests.kernel.support import OpenLab
from tests.papers.claims import Command, commands

pytestmark = pytest.mark.kernel

JUDGED = [command for command in commands() if "verify" in command.verbs]


@pytest.mark.parametrize("command", JUDGED, ids=lambda command: command.run)
def test_a_command_passes_or_fails_as_the_page_says(open_lab_in: OpenLab, command: Command) -> None:
    name, params, without = topology_of(command.calls[0][1:])
    with open_lab_in(name, without=without, **params) as lab:
        results = [played(lab, call) for call in command.calls]
    (result,) = [each for each in results if each is not None]
    failed = {item.name for item in result.expectations if item.verdict is Verdict.FAIL}
    assert failed == set(command.fails)
    assert not [item for item in result.expectations if item.verdict is Verdict.ERROR]


def topology_of(words: list[str]) -> tuple[str, dict[str, object], list[str]]:
    """Read the words as `plan` does, which takes the same of a topology."""
    with plan.command.make_context("plan", list(words)) as context:
        options = context.params
    return options["name"], parameters(options["settings"]), list(options["without"])


def played(lab: Lab, call: list[str]) -> TopologyResult | None:
    verb, *words = call
    if verb == "verify":
        return lab.verify()
    if verb == "exec":
        node, _, *argv = words
        done = lab.node(node).run(*argv)
        assert done.status == 0, done.output
    return None
