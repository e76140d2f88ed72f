"""A lab's commands are programs, not lines for a shell, and its patterns compile: known when the lab is read."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from lvslab.labs.checks.commands import Command
from lvslab.labs.observations.output import Output


@pytest.mark.parametrize(
    "run", ["ip -o link show eth0", "sh -c 'ss -Htn | grep ESTAB > /dev/null; true'", "curl 'http://vip/?a&b'"]
)
def test_a_program_is_taken(run: str) -> None:
    assert Output.model_validate({"node": "rs1", "run": run}).run == run


@pytest.mark.parametrize("run", ["ss -Htn | grep ESTAB", "a; b", "a > b", "a && b", "echo $(id)", "a 'b", "", " "])
def test_what_only_a_shell_understands_is_refused(run: str) -> None:
    with pytest.raises(ValidationError):
        Output.model_validate({"node": "rs1", "run": run})


@pytest.mark.parametrize("field", ["prints", "lacks"])
def test_a_pattern_that_is_none_is_refused(field: str) -> None:
    command = {"node": "rs1", "run": "id", "expect": {"en": "x", "zh": "x"}}
    assert Command.model_validate({**command, field: "^rs(1|2)$"})
    with pytest.raises(ValidationError):
        Command.model_validate({**command, field: "rs(d"})
    with pytest.raises(ValidationError):
        Output.model_validate({"node": "rs1", "run": "id", "match": "rs(d"})
