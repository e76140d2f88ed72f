"""The client's end of a lab: questions to the agent and its answers, through the broker."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from typing import Any

from lvslab.agent.wire import FrameReader, Kind, Message, MessageReader, WireFrame, message_frames
from lvslab.errors import KernelFault

READ_BYTES = 1 << 16
ANSWER_TIMEOUT_S = 60.0


class AgentError(KernelFault):
    """The agent answered that an operation failed; `errno` is 0 when no system call was at fault."""

    def __init__(self, operation: str, error: dict[str, Any]) -> None:
        self.errno: int = error["errno"]
        self.text: str = error["text"]
        self.trace: str = error.get("trace", "")
        found = self.text + (f" ({error['file']})" if error.get("file") else "")
        super().__init__(f"the agent could not {operation.replace('_', ' ')}", found=found)


class Channel:
    """Sends requests; several may be under way, each answer is found by its number."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frames = FrameReader()
        self._messages = MessageReader()
        self._answers: dict[int, Message] = {}
        self._next = 1
        self._hello: dict[str, Any] | None = None

    def wait_for_hello(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the agent is up; return what it says of its kernel."""
        deadline = time.monotonic() + timeout_s
        while self._hello is None:
            self._receive(deadline, f"the kernel did not come up within {timeout_s:g} s")
        return self._hello

    def send(self, operation: str, blobs: Sequence[bytes] = (), **fields: Any) -> int:
        """Send a request; return the number to wait for."""
        number = self._next
        self._next += 1
        try:
            self._connection.settimeout(ANSWER_TIMEOUT_S)
            self._connection.sendall(message_frames(number, Message({"op": operation, **fields}, tuple(blobs))))
        except OSError as error:
            self._raise_if_gone()
            raise KernelFault(
                f"the lab's broker is gone ({error.strerror})", next_step="run the command again"
            ) from None
        return number

    def wait(self, number: int, operation: str, wait_s: float = ANSWER_TIMEOUT_S) -> Message:
        deadline = time.monotonic() + wait_s
        while number not in self._answers:
            self._receive(deadline, f"the agent did not answer '{operation}' within {wait_s:g} s")
        answer = self._answers.pop(number)
        if "error" in answer.fields:
            raise AgentError(operation, answer.fields["error"])
        return answer

    def request(
        self, operation: str, blobs: Sequence[bytes] = (), *, wait_s: float = ANSWER_TIMEOUT_S, **fields: Any
    ) -> Message:
        """Send a request and wait for its answer. Raises AgentError or KernelFault."""
        return self.wait(self.send(operation, blobs, **fields), operation, wait_s)

    def close(self) -> None:
        self._connection.close()

    def _receive(self, deadline: float, late: str) -> None:
        self._connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self._connection.recv(READ_BYTES)
        except TimeoutError:
            raise KernelFault(
                late, next_step="see lvslab doctor, and try again with more memory or less load"
            ) from None
        except ConnectionError:
            data = b""
        if not data:
            raise KernelFault("the lab's broker is gone", next_step="run the command again")
        for frame in self._frames.feed(data):
            self._take(frame)

    def _raise_if_gone(self) -> None:
        """Read what the broker said before it closed: it names the reason."""
        deadline = time.monotonic() + 1
        while True:
            self._receive(deadline, "the lab's broker does not answer")

    def _take(self, frame: WireFrame) -> None:
        if frame.kind is Kind.GONE:
            gone = json.loads(frame.payload)
            raise KernelFault(
                gone["reason"],
                found=gone["log"].splitlines()[-1] if gone["log"] else None,
                next_step="see lvslab doctor",
            )
        if frame.kind is Kind.HELLO:
            self._hello = json.loads(frame.payload)
            return
        message = self._messages.take(frame)
        if message is not None:
            self._answers[frame.channel] = message
