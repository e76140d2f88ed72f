"""What comes back to a client whose answers may go astray: seen where it arrives, whatever the answer looks like."""

from __future__ import annotations

from lvslab.capture.frame import Direction
from lvslab.labs.node_names import NodeName
from lvslab.labs.observations.packets import first_walks
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import frame_at
from lvslab.topology.document import Entry
from lvslab.topology.model import Role
from lvslab.walk.select import connections


class AnswerSource(Entry):
    """The source address with which the SYN-ACK of `server` reaches the client."""

    server: NodeName


@observation("answer-source", AnswerSource)
def answer_source(view: View, wanted: AnswerSource) -> Observed | None:
    for walk in first_walks(view, "reply", None):
        end = walk.hops[-1]
        if walk.origin.node == wanted.server and end.node == view.client and end.packet.ip is not None:
            seen = frame_at(end.number, end.where)
            return Observed(end.packet.ip.source, seen, end.where, (end.number,))
    return None


class AnswersInsider(Entry):
    """Who sends the frame with the SYN-ACK that reaches the client on the servers' own network."""


@observation("answers-insider", AnswersInsider)
def answers_insider(view: View, _wanted: AnswersInsider) -> Observed | None:
    service = view.service()
    with view.lab.record() as recording:
        view.lab.node("insider").get(str(service.vip), service.port)
    for connection in connections(view.lab.walks(recording.finished())):
        for hop in (hop for walk in connection.replies for hop in walk.at("insider")):
            if hop.direction is Direction.IN and hop.packet.ethernet is not None:
                owner = view.owner_of_mac(hop.packet.ethernet.source)
                servers = {node.name for node in view.topology.nodes if node.role is Role.REAL_SERVER}
                seen = frame_at(hop.number, hop.where)
                return Observed("real-server" if owner in servers else owner, seen, hop.where, (hop.number,))
    return None
