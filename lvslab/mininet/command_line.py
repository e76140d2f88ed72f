"""Mininet's command line for whoever has this terminal: runs inside the lab's kernel, beside the network's process.

``python -I command_line.py SOCKET`` hands its three streams to the process that has the network, which talks to them,
and waits for its end. Ctrl-C comes to this process, the terminal being its own, and is passed on.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time
from types import FrameType

_CREDENTIALS = struct.Struct("3i")
"""struct ucred of unix(7): process, user, group."""
BUSY, ENDED = 3, 3
PATIENCE_S = 3.0
POLL_S = 0.05


def main(path: str) -> int:
    if not _is_ours(f"{path}.lock"):
        return _say("somebody else has Mininet's command line of this lab", BUSY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        network = _CREDENTIALS.unpack(credentials)[0]

        def pass_on(_number: int, _frame: FrameType | None) -> None:
            os.kill(network, signal.SIGINT)

        # Whoever hangs up interrupts what runs, so that the command line comes to the end of its input.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, pass_on)
        socket.send_fds(connection, [json.dumps({"do": "command_line"}).encode() + b"\n"], [0, 1, 2])
        answer = connection.makefile().readline()
    error = json.loads(answer).get("error", "") if answer else "Mininet's process has ended"
    return _say(error, ENDED) if error else 0


def _is_ours(path: str) -> bool:
    """Take the lock, which is free again when we end; who is just leaving, or was cut off, is waited for a little."""
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(POLL_S)
        else:
            return True
    return False


def _say(what: str, status: int) -> int:
    sys.stderr.write(f"lvslab: {what}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
