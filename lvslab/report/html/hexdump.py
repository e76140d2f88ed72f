"""A frame's bytes as text: offset, hexadecimal, and what of it is ASCII."""

from __future__ import annotations

from collections.abc import Iterator

_PER_LINE = 16


def hexdump(data: bytes) -> str:
    return "\n".join(_lines(data))


def _lines(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), _PER_LINE):
        line = data[start : start + _PER_LINE]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in line)
        yield f"{start:04x}  {line.hex(' '):<{_PER_LINE * 3 - 1}}  {text}"
