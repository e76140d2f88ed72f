"""One call from a client, as the client and every node on the way saw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from lvslab.testing.packet import PacketWay

if TYPE_CHECKING:
    from lvslab.traffic.outcome import Outcome
    from lvslab.walk.model import Conversation, Walks


class CallUnderTest(PacketWay):
    """A connection. What is asserted is asserted of its first packet; of the first answer, with `reply`."""

    def __init__(
        self,
        walks: Walks,
        conversation: Conversation | None,
        nodes: tuple[str, ...],
        what: str,
        outcome: Outcome | None = None,
    ) -> None:
        first = conversation.requests[0] if conversation is not None and conversation.requests else None
        super().__init__(f"the request of {what}", first, walks.names, nodes)
        replies = conversation.replies if conversation is not None else ()
        self.reply = PacketWay(f"the reply to {what}", replies[0] if replies else None, walks.names, nodes)
        self.conversation = conversation
        self.outcome = outcome
        """How it ended for the client; None for what another program sent."""

    @property
    def server(self) -> str:
        """The name that the server gave itself in its answer; empty without one."""
        return self.outcome.server if self.outcome is not None else ""

    def answered(self, by: str | None = None) -> Self:
        """Assert that the client got an answer, from `by` if that is given."""
        __tracebackhide__ = True
        status = self.outcome.status if self.outcome is not None else "not called by the lab itself"
        if self.outcome is None or not self.outcome.ok:
            raise AssertionError(f"{self._what} got no answer: {status}; {self._way()}")
        if by is not None and self.server != by:
            self._check_names([by])
            raise AssertionError(f"{self._what} was answered by {self.server}, not by {by}: {self._way()}")
        return self
