"""One question to a program in the lab's kernel: a line to its Unix socket, and the line it sends back."""

from __future__ import annotations

import socket

READ_BYTES = 1 << 16


class Question:
    """A question on its way; nothing here ever waits."""

    def __init__(self, path: str, line: bytes) -> None:
        self._path = path
        self._line = line
        self._reply = b""
        self._connection: socket.socket | None = None

    def advance(self) -> bytes | None:
        """Go on with it; return the answer if it has come. Raises OSError if none can come any more."""
        if self._connection is None:
            self._connection = self._ask()
        if self._connection is None:
            return None
        try:
            data = self._connection.recv(READ_BYTES)
        except BlockingIOError:
            return None
        if not data:
            raise ConnectionResetError("no answer")
        self._reply += data
        return self._reply if self._reply.endswith(b"\n") else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _ask(self) -> socket.socket | None:
        """Connect and send the line, unless the program does not listen yet."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._path)
            connection.sendall(self._line)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        connection.setblocking(False)
        return connection
