"""Route messages that travel together: how they are packed, and which refusal is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from lvslab.agent.wire import Message
from lvslab.kernels.channel import Channel
from lvslab.sandbox.transport import PACK_BYTES, NetlinkTransport


class Agent:
    """Answers each message with an errno by its bytes, as the kernel would, up to the first refusal."""

    def __init__(self, refused: bytes | None = None) -> None:
        self.refused = refused
        self.packs: list[tuple[str, int]] = []

    def request(self, operation: str, blobs: Sequence[bytes], **fields: Any) -> Message:
        assert operation == "change"
        self.packs = list(zip(fields["namespaces"], fields["counts"], strict=True))
        assert sum(count for _, count in self.packs) == len(blobs)
        errnos = []
        for blob in blobs:
            errnos.append(17 if blob == self.refused else 0)
            if errnos[-1]:
                break
        return Message({"errnos": errnos})


def transport(agent: Agent) -> NetlinkTransport:
    return NetlinkTransport(cast(Channel, agent))


def test_messages_of_a_namespace_go_together() -> None:
    agent = Agent()
    assert transport(agent).change({"sw": [b"1", b"2"], "rs1": [b"3"], "rs2": []}) == [0, 0, 0]
    assert agent.packs == [("sw", 2), ("rs1", 1)]


def test_no_pack_is_larger_than_a_socket_takes() -> None:
    agent = Agent()
    message = bytes(PACK_BYTES // 2)
    transport(agent).change({"sw": [message] * 5})
    assert agent.packs == [("sw", 2), ("sw", 2), ("sw", 1)]


def test_the_first_refusal_is_the_last_answer() -> None:
    assert transport(Agent(refused=b"2")).change({"sw": [b"1", b"2", b"3"]}) == [0, 17]
