"""An FTP server for one node, as a program of its own: enough of RFC 959 to fetch one file, passive or active.

Usage: ftp_server.py NODE PORT. Whatever file is asked for, the answer is the node's name. Active data connections come
from port 20, as RFC 959 (3.2) has it and helpers expect.
"""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import suppress

DATA_PORT = 20
TIMEOUT_S = 10.0
REPLIES = {
    "USER": "331 any password will do",
    "PASS": "230 welcome",
    "PWD": '257 "/"',
    "CWD": "250 done",
    "TYPE": "200 done",
    "QUIT": "221 goodbye",
}


class Session:
    """One control connection."""

    def __init__(self, node: str, control: socket.socket) -> None:
        self._content = f"{node}\n".encode()
        self._control = control
        self._passive: socket.socket | None = None
        self._active: tuple[str, int] | None = None

    def run(self) -> None:
        self._say("220 ready")
        for line in self._control.makefile("r", encoding="latin-1", newline="\r\n"):
            command, _, argument = line.strip().partition(" ")
            self._obey(command.upper(), argument)
            if command.upper() == "QUIT":
                return

    def _say(self, text: str) -> None:
        self._control.sendall(f"{text}\r\n".encode())

    def _obey(self, command: str, argument: str) -> None:
        if command == "PASV":
            self._listen()
        elif command == "PORT":
            numbers = [int(part) for part in argument.split(",")]
            self._active = ".".join(map(str, numbers[:4])), numbers[4] * 256 + numbers[5]
            self._say("200 done")
        elif command == "RETR":
            self._send_file()
        else:
            self._say(REPLIES.get(command, "502 not here"))

    def _listen(self) -> None:
        own = self._control.getsockname()[0]
        self._passive = socket.create_server((own, 0))
        self._passive.settimeout(TIMEOUT_S)
        port = self._passive.getsockname()[1]
        self._say(f"227 Entering Passive Mode ({own.replace('.', ',')},{port // 256},{port % 256}).")

    def _send_file(self) -> None:
        self._say("150 here it comes")
        try:
            with self._data() as data:
                data.sendall(self._content)
        except OSError as error:
            self._say(f"425 no data connection: {error}")
        else:
            self._say("226 done")

    def _data(self) -> socket.socket:
        if self._active is not None:
            own = self._control.getsockname()[0]
            data = socket.socket()
            data.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            data.settimeout(TIMEOUT_S)
            data.bind((own, DATA_PORT))
            data.connect(self._active)
            return data
        if self._passive is None:
            raise ConnectionError("neither PASV nor PORT was said")
        return self._passive.accept()[0]


def serve(node: str, port: int) -> None:
    with socket.create_server(("", port), backlog=64) as listener:
        while True:
            control, _ = listener.accept()
            threading.Thread(target=_answer, args=(node, control), daemon=True).start()


def _answer(node: str, control: socket.socket) -> None:
    with control, suppress(OSError, ValueError, IndexError):
        Session(node, control).run()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
