"""What a command on a node prints."""

from __future__ import annotations

import re
import shlex

from pydantic import Field

from lvslab.labs.command_text import Pattern, ProgramLine
from lvslab.labs.node_names import NodeName
from lvslab.labs.printed import lines_of, told
from lvslab.labs.registry import Observed, Unseen, observation
from lvslab.labs.view import View
from lvslab.labs.words import same
from lvslab.topology.document import Entry


class Output(Entry):
    """The first group (or the whole) of what `match`, a regular expression, finds in the output of `run`."""

    node: NodeName
    run: ProgramLine
    match: Pattern = Field(default=r"\S.*")


@observation("output", Output)
def output(view: View, wanted: Output) -> Observed | Unseen:
    printed = view.run(wanted.node, *shlex.split(wanted.run)).output
    found = re.search(wanted.match, printed, re.MULTILINE)
    if found is None:
        # The expression itself is not told: it may give the answer away.
        return Unseen(told(wanted.run, lines_of(printed)), wanted.node)
    value = found.group(1) if found.re.groups else found.group()
    return Observed(value.strip(), same(f"{wanted.node}# {wanted.run}"), wanted.node)


class Sysctl(Entry):
    """The value of a kernel setting."""

    node: NodeName
    key: str


@observation("sysctl", Sysctl)
def sysctl(view: View, wanted: Sysctl) -> Observed:
    return Observed(" ".join(view.sysctl(wanted.node, wanted.key).split()), same(wanted.key), wanted.node)
