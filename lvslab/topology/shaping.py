"""How fast a card's cable is, and how long: rates and delays as text (tc(8), units), and what a card gets of them.

`rate` and `delay` stand at a network, for all its cards, or at a node, where they win.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from lvslab.topology.faults import UnusableError
from lvslab.topology.limits import DELAY_MS, RATE_BIT_S
from lvslab.topology.model import Shaping
from lvslab.topology.wording import shown

EVERY = "*"
"""Stands for all cards of a node."""
UNLIMITED = "unlimited"
"""A rate: none."""
RATE_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
DELAY_UNITS_MS = {"ms": 1, "s": 1000}
BITS_PER_BYTE = 8

_QUANTITY = re.compile(r"(?P<number>[0-9]{1,9}(\.[0-9]{1,9})?) ?(?P<unit>[A-Za-z/]*)")
_BYTES = re.compile(r"[kmg]?bps", re.IGNORECASE)


def parse_rate(text: str) -> int | None:
    """Return ``100mbit`` as bits per second, ``unlimited`` as None; raises :class:`UnusableError`.

    The kernel counts whole bytes per second (struct tc_netem_rate, linux/pkt_sched.h).
    """
    if text == UNLIMITED:
        return None
    bits = _quantity(text, RATE_UNITS)
    if bits is None:
        next_step = "write bits: 8mbit is 1 megabyte per second" if _BYTES.search(text) else None
        raise UnusableError(
            "not a rate", expected="for example 100mbit, 1.5gbit or unlimited", found=shown(text), next_step=next_step
        )
    if bits != int(bits) or int(bits) % BITS_PER_BYTE:
        raise UnusableError("not a usable rate", expected="a multiple of 8bit", found=shown(text))
    if int(bits) not in RATE_BIT_S:
        allowed = f"{rate_text(RATE_BIT_S.low)} to {rate_text(RATE_BIT_S.high)}"
        raise UnusableError("not a usable rate", expected=allowed, found=shown(text))
    return int(bits)


def parse_delay(text: str) -> int:
    """Return ``20ms`` or ``1s`` in milliseconds; raises :class:`UnusableError`."""
    delay_ms = _quantity(text, DELAY_UNITS_MS)
    if delay_ms is None:
        raise UnusableError("not a delay", expected="for example 20ms or 1s", found=shown(text))
    if delay_ms != int(delay_ms) or int(delay_ms) not in DELAY_MS:
        allowed = f"whole milliseconds, {DELAY_MS.low}ms to {DELAY_MS.high}ms"
        raise UnusableError("not a usable delay", expected=allowed, found=shown(text))
    return int(delay_ms)


def _quantity(text: str, units: Mapping[str, int]) -> Decimal | None:
    found = _QUANTITY.fullmatch(text)
    if found is None or found["unit"].lower() not in units:
        return None
    return Decimal(found["number"]) * units[found["unit"].lower()]


def rate_text(bit_s: int) -> str:
    """Return a rate in the largest unit that takes no fraction, as tc(8) reads it: ``100mbit``."""
    unit = max((unit for unit, size in RATE_UNITS.items() if bit_s % size == 0), key=RATE_UNITS.__getitem__)
    return f"{bit_s // RATE_UNITS[unit]}{unit}"


def shaping_of(network: Shaping, rates: Mapping[str, int | None], delays: Mapping[str, int], name: str) -> Shaping:
    """Return what a node's card on the network `name` has: the node's own rate and delay, else those of the network."""
    return Shaping(
        rates.get(name, rates.get(EVERY, network.rate_bit_s)),
        delays.get(name, delays.get(EVERY, network.delay_ms)),
    )
