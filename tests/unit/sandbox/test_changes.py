"""Route messages that travel together: how they are packed, and which refusal is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from lvslab.agent.wire import Message
from lvslab.kernels.channel import Channel
from lvslab.sandbox.transport import REQUEST_BYTES, NetlinkTransport


class Agent:
    """Answers each message with an errno by its bytes, as the kernel would, up to the first refusal."""

    def __init__(self, refused: bytes | None = None) -> None:
        self.refused = refused
        self.packs: list[tuple[str, int]] = []
        self.answers: list[Message] = []

    def send(self, operation: str, blobs: Sequence[bytes], **fields: Any) -> int:
        assert operation == "change"
        packs = list(zip(fields["namespaces"], fields["counts"], strict=True))
        assert sum(count for _, count in packs) == len(blobs)
        self.packs += packs
        errnos = []
        for blob in blobs:
            errnos.append(17 if blob == self.refused else 0)
            if errnos[-1]:
                break
        self.answers.append(Message({"errnos": errnos}))
        return len(self.answers) - 1

    def wait(self, number: int, operation: str) -> Message:
        assert operation == "change"
        return self.answers[number]


def transport(agent: Agent) -> NetlinkTransport:
    return NetlinkTransport(cast(Channel, agent))


def test_messages_of_a_namespace_go_together() -> None:
    agent = Agent()
    assert transport(agent).change([("sw", [b"1", b"2"]), ("rs1", [b"3"]), ("rs2", [])]) == [0, 0, 0]
    assert agent.packs == [("sw", 2), ("rs1", 1)]


def test_no_pack_is_larger_than_a_socket_takes() -> None:
    agent = Agent()
    message = bytes(REQUEST_BYTES // 2)
    transport(agent).change([("sw", [message] * 5)])
    assert agent.packs == [("sw", 2), ("sw", 2), ("sw", 1)]


def test_the_agent_is_at_work_while_the_next_messages_are_made() -> None:
    agent = Agent()
    message = bytes(REQUEST_BYTES)

    def of_second() -> Iterator[bytes]:
        assert agent.packs == [("sw", 1)]
        yield b"1"

    assert transport(agent).change([("sw", [message]), ("rs1", of_second())]) == [0, 0]
    assert len(agent.answers) == 2


@pytest.mark.parametrize("after", [b"3", bytes(REQUEST_BYTES)])
def test_the_first_refusal_is_the_last_answer(after: bytes) -> None:
    messages = [b"1", b"2", after, b"2", b"4"]
    assert transport(Agent(refused=b"2")).change([("sw", messages)]) == [0, 17]
