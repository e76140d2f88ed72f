"""What a command on a node prints: for what no other check looks at."""

from __future__ import annotations

import re
import shlex

from pydantic import Field

from lvslab.labs.checks.nodes import nodes_of, on_each
from lvslab.labs.command_text import Pattern, ProgramLine
from lvslab.labs.document import WordsEntry
from lvslab.labs.finding import Finding, judged
from lvslab.labs.large_request import CURL_TIMED_OUT
from lvslab.labs.node_names import NodePattern
from lvslab.labs.printed import lines_of, told
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import Words, words
from lvslab.topology.document import Entry


class Command(Entry):
    """`run` on `node` prints what `prints` matches, and nothing that `lacks` matches (regular expressions)."""

    node: NodePattern = Field(description="a node, or several by a pattern")
    run: ProgramLine
    prints: Pattern | None = None
    lacks: Pattern | None = None
    expect: WordsEntry = Field(description="the same in words, for the student")


@check("command", Command)
def command(view: View, wanted: Command) -> Finding:
    several = len(nodes_of(view, wanted.node)) > 1

    def expected_of(node: str) -> Words:
        # The sentence speaks of one node; of which, where there are several, is said beside it.
        said = Words(wanted.expect.en, wanted.expect.zh)
        return words("{said} ({node})", "{said}（{node}）", said=said, node=node) if several else said

    def judge(node: str, expected: Words) -> Finding:
        ended = view.run(node, *shlex.split(wanted.run))
        output = ended.output
        present = wanted.prints is None or re.search(wanted.prints, output, re.MULTILINE) is not None
        absent = wanted.lacks is None or re.search(wanted.lacks, output, re.MULTILINE) is None
        seen = _told(wanted, ended.status, output)
        look = words("on {node}: {run}", "在 {node} 上：{run}", node=node, run=wanted.run)
        return judged(present and absent, expected, seen, node, next_step=look)

    return on_each(view, wanted.node, expected_of, judge)


def _told(wanted: Command, status: int, output: str) -> Words:
    """Say what a command printed: of much, the lines that should not be there, or the first ones, whole."""
    if wanted.run.startswith("curl ") and status == CURL_TIMED_OUT:
        return words("no answer in time: {run}", "没有按时得到回答：{run}", run=wanted.run)
    lines = lines_of(output)
    unwanted = [line for line in lines if wanted.lacks is not None and re.search(wanted.lacks, line)]
    return told(wanted.run, unwanted or lines)
