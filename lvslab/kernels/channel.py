"""The client's end of a lab: questions to the agent and its answers, through the broker."""

from __future__ import annotations

import errno
import json
import select
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lvslab.agent.wire import FrameReader, Kind, Message, MessageReader, WireError, WireFrame, message_frames
from lvslab.errors import KernelFault

READ_BYTES = 1 << 16
ANSWER_TIMEOUT_S = 60.0
AGAIN = "run the command again; if that does not help, see lvslab doctor, or give a guest more memory (--memory)"
CURES = {
    errno.ENOMEM: "give the guest more memory (--memory)",
    errno.ENOSPC: "make room in the folder for labs (lvslab doctor names it)",
}


class AgentError(KernelFault):
    """The agent answered that an operation failed; `errno` is 0 when no system call was at fault."""

    def __init__(self, operation: str, error: dict[str, Any]) -> None:
        self.errno: int = error["errno"]
        self.text: str = error["text"]
        self.trace: str = error.get("trace", "")
        found = self.text + (f" ({error['file']})" if error.get("file") else "")
        what = f"the agent could not {operation.replace('_', ' ')}"
        super().__init__(what, found=found, next_step=CURES.get(self.errno))


class Channel:
    """Sends requests; several may be under way, each answer is found by its number.

    A request cut short by an exception such as KeyboardInterrupt leaves the channel usable: what was not yet
    sent is sent before the next request. `log` is where the broker's own last words would be.
    """

    def __init__(self, connection: socket.socket, log: Path | None = None) -> None:
        self._connection = connection
        self._connection.setblocking(False)
        self._log = log
        self._frames = FrameReader()
        self._messages = MessageReader()
        self._outgoing = bytearray()
        self._answers: dict[int, Message] = {}
        self._next = 1
        self._hello: dict[str, Any] | None = None
        self._over: KernelFault | None = None

    def wait_for_hello(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the agent is up; return what it says of its kernel."""
        deadline = time.monotonic() + timeout_s
        while self._hello is None:
            self._exchange(deadline, f"the kernel did not come up within {timeout_s:g} s")
        return self._hello

    def send(self, operation: str, blobs: Sequence[bytes] = (), **fields: Any) -> int:
        """Send a request; return the number to wait for."""
        number = self._next
        self._next += 1
        self._outgoing += message_frames(number, Message({"op": operation, **fields}, tuple(blobs)))
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while self._outgoing:
            self._exchange(deadline, f"the agent did not take '{operation}' within {ANSWER_TIMEOUT_S:g} s")
        return number

    def wait(self, number: int, operation: str, wait_s: float = ANSWER_TIMEOUT_S) -> Message:
        deadline = time.monotonic() + wait_s
        while number not in self._answers:
            self._exchange(deadline, f"the agent did not answer '{operation}' within {wait_s:g} s")
        answer = self._answers.pop(number)
        if "error" in answer.fields:
            raise AgentError(operation, answer.fields["error"])
        return answer

    def request(
        self, operation: str, blobs: Sequence[bytes] = (), *, wait_s: float = ANSWER_TIMEOUT_S, **fields: Any
    ) -> Message:
        """Send a request and wait for its answer. Raises AgentError or KernelFault."""
        return self.wait(self.send(operation, blobs, **fields), operation, wait_s)

    def tell(self, kind: Kind) -> None:
        """Tell the broker something that has no answer."""
        self._outgoing += WireFrame(kind, 0, b"").encode()
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while self._outgoing:
            self._exchange(deadline, "the lab's broker takes nothing")

    def close(self) -> None:
        self._over = self._over or KernelFault("the lab is closed")
        self._connection.close()

    def _exchange(self, deadline: float, late: str) -> None:
        """Send what can be sent and take what has come, once: neither side may wait for the other to read."""
        if self._over is not None:
            raise self._over
        poll = select.poll()
        poll.register(self._connection, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
        ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            raise KernelFault(late, next_step=AGAIN)
        events = ready[0][1]
        try:
            if events & ~select.POLLOUT:
                self._receive()
            elif events & select.POLLOUT:
                del self._outgoing[: self._connection.send(self._outgoing)]
        except KernelFault as fault:
            self._over = fault
            raise
        except BlockingIOError:
            return
        except ConnectionError:
            # What the broker said before it went is still to be read.
            self._outgoing.clear()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(READ_BYTES)
        except ConnectionError:
            data = b""
        if not data:
            raise KernelFault("the lab's broker is gone", found=self._last_words(), next_step=AGAIN)
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
        except WireError as error:
            raise KernelFault("what the agent sent makes no sense", found=str(error), next_step=AGAIN) from error

    def _last_words(self) -> str | None:
        try:
            lines = self._log.read_text(errors="replace").splitlines() if self._log else []
        except OSError:
            return None
        return lines[-1] if lines else None

    def _take(self, frame: WireFrame) -> None:
        if frame.kind is Kind.GONE:
            gone = _fields(frame)
            raise KernelFault(str(gone.get("reason")), found=gone.get("last_words") or None, next_step=AGAIN)
        if frame.kind is Kind.HELLO:
            self._hello = _fields(frame)
            return
        message = self._messages.take(frame)
        if message is not None:
            self._answers[frame.channel] = message


def _fields(frame: WireFrame) -> dict[str, Any]:
    try:
        return dict(json.loads(frame.payload))
    except (ValueError, TypeError) as error:
        raise WireError(f"{frame.kind.name} says {frame.payload[:40]!r}") from error
