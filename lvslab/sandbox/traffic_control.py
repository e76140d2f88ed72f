"""Traffic control messages (linux/pkt_sched.h, net/sched/sch_netem.c), encoded by pyroute2; pure bytes."""

from __future__ import annotations

from pyroute2.netlink.rtnl import RTM_NEWQDISC, TC_H_ROOT
from pyroute2.netlink.rtnl.tcmsg import tcmsg

from lvslab.sandbox.rtnl import CREATE, encoded
from lvslab.topology.model import Shaping

TICK_NS = 64
"""Unit of netem's delay (PSCHED_SHIFT in net/pkt_sched.h)."""
BITS_PER_BYTE = 8


def shape(index: int, shaping: Shaping, queue_packets: int) -> bytes:
    """Return the request that has netem send what leaves the device of this number."""
    rate = [] if shaping.rate_bit_s is None else [("TCA_NETEM_RATE", {"rate": shaping.rate_bit_s // BITS_PER_BYTE})]
    options = {"delay": shaping.delay_ms * 1_000_000 // TICK_NS, "limit": queue_packets, "attrs": rate}
    message = tcmsg()
    message["index"] = index
    message["parent"] = TC_H_ROOT
    message["attrs"] = [("TCA_KIND", "netem"), ("TCA_OPTIONS", options)]
    return encoded(message, RTM_NEWQDISC, CREATE)
