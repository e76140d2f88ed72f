"""Every IP, TCP, UDP, SCTP and ICMP checksum is right at every interface."""

from __future__ import annotations

from collections import Counter

from lvslab.verify.causes.cause import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.walk.model import Hop

STATEMENT = Statement("checksums", "every IP, TCP, UDP, SCTP and ICMP checksum is right at every interface")


def judge(evidence: Evidence) -> Result:
    hops = [hop for hop in _hops(evidence) if hop.packet.ip is not None]
    bad = [hop for hop in hops if hop.packet.bad_checksums]
    if bad:
        return _failed(bad)
    judged = [hop for hop in hops if hop.frame.checksum_ready]
    if not judged:
        return STATEMENT.skipped("no frame with a checksum was recorded")
    tail = f", {len(hops) - len(judged)} more left to hardware" if len(judged) < len(hops) else ""
    return STATEMENT.passed(f"{count(len(judged), 'frame')} checked{tail}")


def _failed(bad: list[Hop]) -> Result:
    worst, number = Counter(hop.where for hop in bad).most_common(1)[0]
    first = next(hop for hop in bad if hop.where == worst)
    return STATEMENT.failed(
        f"{count(len(bad), 'frame')} with a wrong checksum, {number} of them at {worst}: "
        f"{', '.join(first.packet.bad_checksums)} in frame {first.number}",
        where=worst,
        frames=[hop.number for hop in bad if hop.where == worst],
        cause=Cause(
            "checksum offload is on at the sender, or a rewrite did not adjust the checksum",
            "on the sender: ethtool -K eth0 tx off",
        ),
    )


def _hops(evidence: Evidence) -> list[Hop]:
    walks = evidence.walks
    return [hop for walk in walks.walks for hop in walk.hops] + [hop for rest in walks.unmatched for hop in rest.hops]
