"""Two ways the kernel has counted a destination's connections, and which releases count how.

Until 2026 a destination counted active and inactive connections apart; then "ipvs: add totalconns for dest" and
"ipvs: properly update the overload flag on dest edit" replaced the second count by a total, and with it changed two
things that can be seen (include/net/ip_vs.h, ip_vs_dest_conn_overhead; net/netfilter/ipvs/ip_vs_ctl.c,
__ip_vs_dest_update_overload):

- the overhead that lc, wlc, lblc and lblcr compare is 256 · active + total instead of 256 · active + inactive, so an
  active connection weighs 257 inactive ones;
- editing the thresholds of a destination judges its connections anew, where before a higher or no upper threshold
  cleared the overload mark and a lower one did nothing until the next connection.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

_FIRST_TOTAL: Final = {(6, 1): 183, (6, 12): 104}
"""By stable series, the first release that counts totals (ChangeLog-6.1.183, ChangeLog-6.12.104 on kernel.org)."""
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


class Counting(Enum):
    """How a kernel counts the connections of a destination; the value is an active connection's part in the overhead.

    An inactive connection's part is 1.
    """

    SEPARATE = 256
    TOTAL = 257

    @classmethod
    def of_release(cls, release: str) -> Counting:
        """Return how a kernel release (`uname -r`) counts: by its series where known, else older than 6.12 or not."""
        found = _RELEASE.match(release)
        if found is None:
            return cls.TOTAL
        series = int(found[1]), int(found[2])
        first = _FIRST_TOTAL.get(series)
        if first is not None:
            return cls.TOTAL if int(found[3] or 0) >= first else cls.SEPARATE
        return cls.SEPARATE if series < max(_FIRST_TOTAL) else cls.TOTAL
