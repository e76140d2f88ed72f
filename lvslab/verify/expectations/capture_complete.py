"""Nothing was lost while recording; without this no failure can be trusted."""

from __future__ import annotations

from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result

STATEMENT = Statement("capture-complete", "no frame is lost while recording")


def judge(evidence: Evidence) -> Result:
    capture = evidence.capture
    if capture.lost:
        node = max(capture.drops, key=lambda name: capture.drops[name])
        return STATEMENT.error(
            f"{count(capture.lost, 'frame')} lost, {capture.drops[node]} of them at {node}",
            reason="the recorder could not keep up with the traffic",
            next_step="send less traffic, or use fewer nodes",
            where=node,
        )
    if not capture.frames:
        return STATEMENT.skipped("no frame was recorded: nobody sent any")
    unmatched = len(evidence.walks.unmatched)
    tail = f", {unmatched} not joined to a walk" if unmatched else ""
    return STATEMENT.passed(f"{count(len(capture.frames), 'frame')} recorded, none lost{tail}")
