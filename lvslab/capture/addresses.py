"""Addresses as text. A capture repeats few addresses many times, so each is formatted once."""

from __future__ import annotations

from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_ntop


@lru_cache(maxsize=65536)
def mac_text(packed: bytes) -> str:
    """Return six bytes as ``02:00:00:00:00:01``."""
    return packed.hex(":")


@lru_cache(maxsize=65536)
def ip_text(packed: bytes) -> str:
    """Return 4 or 16 bytes in the usual notation (RFC 5952 for IPv6)."""
    return inet_ntop(AF_INET if len(packed) == 4 else AF_INET6, packed)
