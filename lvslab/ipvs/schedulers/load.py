"""One destination's connections as the kernel counts them, and its overload mark.

A connection is active from its SYN until its FIN or RST, and inactive from then until its entry expires
(net/netfilter/ipvs/ip_vs_proto_tcp.c: tcp_state_active_table); SCTP is active only while it is established
(ip_vs_proto_sctp.c: set_sctp_state), and UDP is inactive all along. Active and inactive together are held against the
thresholds (ip_vs_ctl.c: __ip_vs_dest_update_overload): the mark is set when they reach the upper one and cleared when
they fall below the lower one, which is three quarters of the upper one unless given. How an edit of the thresholds acts
depends on the release, see :mod:`lvslab.ipvs.schedulers.counting`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.ipvs.schedulers.counting import Counting


@dataclass(slots=True)
class Load:
    """Counts and overload mark of one destination; they outlive its deletion while it has connections."""

    counting: Counting = Counting.TOTAL
    upper: int = 0
    lower: int = 0
    active: int = 0
    inactive: int = 0
    overloaded: bool = False

    @property
    def total(self) -> int:
        return self.active + self.inactive

    @property
    def lower_in_force(self) -> int:
        """The threshold below which the mark is cleared."""
        return self.lower or self.upper - self.upper // 4

    def limit(self, upper: int, lower: int) -> None:
        """Set the thresholds, as adding or editing the destination does; 0 is no limit, and the default lower one."""
        before = self.upper, self.lower
        self.upper, self.lower = upper, lower
        if self.counting is Counting.SEPARATE:
            if upper == 0 or upper > before[0]:
                self.overloaded = False
        elif (upper, lower) != before:
            self._judge_anew()

    def open(self, *, active: bool) -> None:
        """Count a new connection; TCP's are active; UDP's and, until established, SCTP's are not."""
        if active:
            self.active += 1
        else:
            self.inactive += 1
        if self.upper and self._has_reached_upper():
            self.overloaded = True

    def turn(self, *, active: bool) -> None:
        """Count an inactive connection as active, or an active one, of which a FIN or RST has passed, as inactive."""
        step = 1 if active else -1
        self.active += step
        self.inactive -= step

    def expire(self, *, active: bool) -> None:
        """Forget a connection whose entry has expired."""
        if active:
            self.active -= 1
        else:
            self.inactive -= 1
        unlimited = self.upper == 0 and self.counting is Counting.SEPARATE
        if unlimited or self.total < self.lower_in_force:
            self.overloaded = False

    def _has_reached_upper(self) -> bool:
        """Totals are compared as they pass the threshold, separate counts at every connection."""
        if self.counting is Counting.TOTAL:
            return self.total == self.upper
        return self.total >= self.upper

    def _judge_anew(self) -> None:
        if self.upper and self.total >= self.upper:
            self.overloaded = True
        elif self.total < self.lower_in_force or not self.upper:
            self.overloaded = False
