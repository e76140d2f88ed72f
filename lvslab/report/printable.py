"""Text that is safe to show: control characters, which a captured payload or a file name may hold, made visible."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and newline, surrogates, and U+FFFE/U+FFFF: what a terminal might obey
# and what XML 1.0 (section 2.2, Char) does not allow.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    r"""Return `text` with every unprintable character written as ``\x1b`` or ``\udc80``."""
    return _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
