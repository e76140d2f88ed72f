"""An address with a port, as commands and people write it."""

from __future__ import annotations

from lvslab.topology.model import Address


def endpoint(address: Address, port: int) -> str:
    """Return ``192.0.2.1:80`` or ``[2001:db8::1]:80`` (RFC 3986, section 3.2.2)."""
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
