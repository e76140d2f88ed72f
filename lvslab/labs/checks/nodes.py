"""Choosing the nodes that a check is about: one by name, or several by a pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lvslab.labs.finding import Finding
from lvslab.labs.view import View
from lvslab.labs.words import Words
from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import select


def nodes_of(view: View, pattern: str) -> tuple[str, ...]:
    """Return the names of the nodes meant. Raises LookupError if there are none."""
    try:
        return tuple(select(pattern, [node.name for node in view.topology.nodes]))
    except UnusableError as problem:
        raise LookupError(f"the lab has no node {pattern}") from problem


def first_failure(findings: Iterable[Finding]) -> Finding:
    """Return the first finding that is no pass, or the last of all."""
    last: Finding | None = None
    for last in findings:
        if not last.passed:
            return last
    if last is None:
        raise LookupError("nothing to judge")
    return last


def on_each(
    view: View, pattern: str, expected: Callable[[str], Words], judge: Callable[[str, Words], Finding]
) -> Finding:
    """Judge node by node up to the first that fails; what passes on all of them says so of all.

    `expected` says what is expected of a node, or of several named together; `judge` finds it on one node.
    """
    nodes = nodes_of(view, pattern)
    finding = first_failure(judge(node, expected(node)) for node in nodes)
    return replace(finding, expected=expected(", ".join(nodes)), where="") if finding.passed and nodes[1:] else finding
