"""Opening files that users name: what is not a regular file could make a reader wait for ever."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from lvslab.errors import BadInput


def open_input(path: Path, what: str) -> BinaryIO:
    """Open a regular file for reading; `what` says what it should be. Raises BadInput."""
    try:
        # Without O_NONBLOCK, opening a FIFO waits for somebody to write to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(f"cannot read {what}: {error.strerror}", where=str(path), next_step="check the path") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        kind = "a folder" if path.is_dir() else "something else"
        raise BadInput(f"cannot read {what}", where=str(path), expected="a regular file", found=kind)
    return os.fdopen(descriptor, "rb")
