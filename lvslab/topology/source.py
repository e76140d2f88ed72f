"""Reading a topology file's text, refusing what cannot be one before anything else looks at it."""

from __future__ import annotations

import re
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.inputs import open_input

SIZE_LIMIT = 256 * 1024
"""Bytes; a topology of hundreds of nodes has a few kilobytes."""

LINE_MARK_START, LINE_MARK_END = "\ufdd0", "\ufdd1"
"""Noncharacters, which Unicode sets aside for internal use; rendering marks lines with them."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]")
"""Control characters, line separators that only some programs count as lines, surrogates and noncharacters."""


def read_source(path: Path, what: str = "the topology file") -> str:
    """Return the text of a file (UTF-8, with or without a byte order mark); `what` says what it should be.

    Raises :class:`~lvslab.errors.BadInput` when it cannot be read, is too large, or is not UTF-8.
    """
    with open_input(path, what) as file:
        data = file.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise _too_large(str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            "not UTF-8 text", where=f"{path}:{line}", expected="a text file", found=f"byte 0x{data[error.start]:02x}"
        ) from error


def check_text(text: str, source: str) -> None:
    """Raise :class:`~lvslab.errors.BadInput` for text that is too large, empty, or holds control characters."""
    if len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT:
        raise _too_large(source)
    if not text.strip():
        raise BadInput("the file is empty", where=f"{source}:1", expected="a topology")
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        line = len(re.findall(r"\r\n|\r|\n", text[: forbidden.start()])) + 1
        raise BadInput(
            "not a text file: control character",
            where=f"{source}:{line}",
            expected="printable text",
            found=f"U+{ord(forbidden.group()):04X}",
        )


def _too_large(source: str) -> BadInput:
    return BadInput("the file is too large", where=source, expected=f"at most {SIZE_LIMIT // 1024} KiB")
