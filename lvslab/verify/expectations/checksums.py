"""Every IP, TCP, UDP and ICMP checksum is right at every interface."""

from __future__ import annotations

from collections import Counter

from lvslab.verify.causes import Cause
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.base import Statement, count
from lvslab.verify.result import Result
from lvslab.walk.model import Hop

STATEMENT = Statement("checksums", "every IP, TCP, UDP and ICMP checksum is right at every interface")


def judge(evidence: Evidence) -> Result:
    hops = _hops(evidence)
    bad = [hop for hop in hops if hop.packet.bad_checksums]
    if not bad:
        return STATEMENT.passed(f"{count(len(hops), 'frame')} checked")
    worst, number = Counter(hop.where for hop in bad).most_common(1)[0]
    first = next(hop for hop in bad if hop.where == worst)
    return STATEMENT.failed(
        f"{count(len(bad), 'frame')} with a wrong checksum, {number} of them at {worst}: "
        f"{', '.join(first.packet.bad_checksums)} in frame {first.number}",
        where=worst,
        frames=[hop.number for hop in bad if hop.where == worst],
        cause=Cause(
            "checksum offload is on at the sender, or a rewrite did not adjust the checksum",
            f"ethtool -K {first.interface} tx off on the sender",
        ),
    )


def _hops(evidence: Evidence) -> list[Hop]:
    walks = evidence.walks
    return [hop for walk in walks.walks for hop in walk.hops] + [hop for rest in walks.unmatched for hop in rest.hops]
