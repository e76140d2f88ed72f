"""Writing a report where the user said: whole or not at all, and `-` for standard output."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lvslab.errors import BadInput

STDOUT = "-"
CAPTURE = "--pcap"


def write_output(path: str, data: bytes) -> None:
    """Write `data` to the file `path`, or to standard output if it is `-`.

    A file is replaced in one step (rename(2)), so that a reader or a crash never meets half a report; its mode is
    kept. What is not a regular file (a pipe, /dev/null) is written to directly. Raises BadInput if that cannot be
    done, and BrokenPipeError as it is if the reader of standard output has gone.
    """
    try:
        if path == STDOUT:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            _write_file(Path(path), data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


def write_new(path: str, data: bytes) -> None:
    """Write what a person may have gone on with, and so is never replaced; else as `write_output`. Raises BadInput."""
    check_new(path)
    write_output(path, data)


def check_new(path: str) -> None:
    """Raise the BadInput that `write_new` would, as far as can be told before the work is done."""
    check_output(path)
    target = Path(path)
    # A link to nothing is something, too.
    if path != STDOUT and (target.is_symlink() or target.exists()) and not _is_special(_mode(target)):
        raise BadInput("there is something already", where=path, next_step="choose another name, or remove it")


def check_outputs(paths: Mapping[str, str | None]) -> None:
    """Check the files that options name, by option (None: not given): that each can be written, and is no other's.

    Raises BadInput.
    """
    taken: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        if option == CAPTURE and path == STDOUT:
            raise BadInput("a capture needs a file", where=f"{option} {path}", next_step="lvslab capture writes to -")
        check_output(path)
        target = Path(path).resolve()
        if path == STDOUT or _is_special(_mode(target)):
            continue
        if target in taken:
            raise BadInput(
                "two reports in one file",
                where=f"{taken[target]} {option}",
                expected="a file for each",
                found=path,
            )
        taken[target] = option


def check_output(path: str) -> None:
    """Raise the BadInput that `write_output` would, as far as can be told before the work is done."""
    if path == STDOUT:
        return
    target = Path(path)
    try:
        mode = _mode(target)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _require_writable(target if _is_special(mode) else target.resolve().parent)
        if not _is_special(mode):
            # Not all that access(2) allows can be done: /proc takes no new files, not even root's.
            tempfile.TemporaryFile(dir=target.resolve().parent).close()
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


def _require_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        number = errno.EACCES if path.exists() else errno.ENOENT
        raise OSError(number, os.strerror(number))


def _write_file(path: Path, data: bytes) -> None:
    mode = _mode(path)
    if _is_special(mode):
        path.write_bytes(data)
        return
    target = path.resolve()  # a symbolic link stays, the file it names is replaced
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with partial.open("xb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _is_special(mode: int | None) -> bool:
    return mode is not None and not stat.S_ISREG(mode)


def unwritable(path: str, error: OSError | ValueError) -> BadInput:
    """Return what to tell the user when a report cannot be written."""
    return BadInput(
        "cannot write here",
        where="standard output" if path == STDOUT else path,
        found=(error.strerror if isinstance(error, OSError) else None) or str(error),
        next_step="name a file in a folder that exists and that you may write to, or - for standard output",
    )
