"""What a command on a node prints: for what no other check looks at."""

from __future__ import annotations

import re
import shlex

from pydantic import Field

from lvslab.labs.checks.nodes import on_each
from lvslab.labs.document import WordsEntry
from lvslab.labs.finding import Finding, judged
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, words
from lvslab.topology.document import Entry

_LONGEST = 160


class Command(Entry):
    """`run` on `node` prints what `prints` matches, and nothing that `lacks` matches (regular expressions)."""

    node: str = Field(description="a node, or several by a pattern")
    run: str
    prints: str | None = None
    lacks: str | None = None
    expect: WordsEntry = Field(description="the same in words, for the student")


@check("command", Command)
def command(view: View, wanted: Command) -> Finding:
    expected = Words(wanted.expect.en, wanted.expect.zh)

    def judge(node: str) -> Finding:
        output = view.run(node, *shlex.split(wanted.run)).output
        present = wanted.prints is None or re.search(wanted.prints, output, re.MULTILINE) is not None
        absent = wanted.lacks is None or re.search(wanted.lacks, output, re.MULTILINE) is None
        shown = " ".join(output.split())[:_LONGEST] or "-"
        seen = words("{run} prints: {shown}", "{run} 的输出：{shown}", run=wanted.run, shown=shown)
        look = words("on {node}: {run}", "在 {node} 上：{run}", node=node, run=wanted.run)
        return judged(present and absent, expected, seen, node, next_step=look)

    return on_each(view, wanted.node, judge)
