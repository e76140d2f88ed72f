"""Noticing that files change: an editor may write into a file, or put a new one in its place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

INTERVAL_S = 0.3

Look = tuple[int, int, int] | None


def each_change(paths: Sequence[Path], interval_s: float = INTERVAL_S) -> Iterator[None]:
    """Yield now, and again after each change of any file; a file that is gone for the moment has changed, too."""
    seen: list[Look] | None = None
    while True:
        now = [_look(path) for path in paths]
        if now != seen:
            seen = now
            yield
        time.sleep(interval_s)


def _look(path: Path) -> Look:
    with suppress(OSError):
        status = path.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    return None
