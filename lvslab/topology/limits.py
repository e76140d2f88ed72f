"""What the kernel and the protocols allow: the ranges and lists that checks and the JSON Schema share."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIGITS = re.compile(r"[0-9]{1,19}")
"""Python refuses to read thousands of digits as a number (sys.set_int_max_str_digits)."""


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    def __contains__(self, number: int) -> bool:
        return self.low <= number <= self.high

    def read(self, text: str) -> int | None:
        """Return the number that decimal digits say, None if they say none of these or are something else."""
        if not _DIGITS.fullmatch(text):
            return None
        number = int(text)
        return number if number in self else None

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


PORT = Range(1, 65535)
WEIGHT = Range(0, 65535)
"""ipvsadm(8), ``--weight``."""
PERSISTENCE_S = Range(1, 31 * 24 * 60 * 60)
"""ipvsadm refuses timeouts over 31 days (MAX_TIMEOUT in ipvsadm.c)."""
MARK = Range(1, 2**32 - 1)
"""iptables-extensions(8), MARK; ipvsadm(8), ``--fwmark-service``: greater than zero."""
THRESHOLD = Range(0, 65535)
"""ipvsadm(8), ``--u-threshold``, ``--l-threshold``."""
TTL_S = Range(0, 2**31 - 1)
"""RFC 2181, section 8."""
IPV4_PREFIX = Range(1, 32)
IPV6_PREFIX = Range(1, 128)
RATE_BIT_S = Range(8_000, 10**10)
"""Below, a full frame takes over a second; the kernel's number ends at 34 Gbit/s (linux/pkt_sched.h)."""
DELAY_MS = Range(0, 10_000)
CONNECTIONS = Range(1, 10_000)
ANSWER_BYTES = Range(0, 16 * 1024 * 1024)
REQUEST_BYTES = Range(0, 8000)
"""nginx takes no longer header (large_client_header_buffers), and a datagram has its own limit."""
MTU = Range(576, 9000)
"""From what every host must accept (RFC 791) to the jumbo frames of a LAN; IPv6 needs 1280 (RFC 8200)."""
MSS = Range(256, 8960)

GROUP_MEMBERS = 256
"""Most nodes one group such as ``rs[1-256]`` may have."""
NAME_LENGTH = 12
"""Longest name of a node or network: it becomes part of an interface's name, which has 15 characters (IFNAMSIZ)."""
DNS_NAME_LENGTH = 253
"""RFC 1035, section 3.1, in characters without the final dot."""

SCHEDULERS = ("rr", "wrr", "lc", "wlc", "lblc", "lblcr", "dh", "sh", "sed", "nq", "fo", "ovf", "mh", "twos")
"""The kernel's schedulers (net/netfilter/ipvs/Kconfig); Debian's User-Mode Linux 6.1 lacks `twos`."""
SERVER_KINDS = ("builtin", "nginx")
EXPECTATION_GROUPS = ("method", "arp", "answers", "scheduler", "statistics", "checksums", "dns", "mtu")
