"""Who answers the client's next calls."""

from __future__ import annotations

from lvslab.labs.calls import Calls, answered_by
from lvslab.labs.entries import entry_of_call
from lvslab.labs.node_names import Director, NodeName, NodeOrFailure
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import words
from lvslab.topology.document import Connections, Entry


class ServerOrder(Calls):
    """The servers that answer the next calls, in order; `only` keeps one of them, counted from 1."""

    only: Connections | None = None


@observation("server-order", ServerOrder)
def server_order(view: View, wanted: ServerOrder) -> Observed | None:
    servers = answered_by(view, wanted)
    if servers is None or len(servers) < (wanted.only or wanted.count):
        return None
    return _observed(view, wanted, " ".join(servers) if wanted.only is None else servers[wanted.only - 1])


class ServerCount(Calls):
    """How many of the next calls one server answers, or end in one way (ECONNREFUSED, ETIMEDOUT)."""

    server: NodeOrFailure


@observation("server-count", ServerCount)
def server_count(view: View, wanted: ServerCount) -> Observed | None:
    servers = answered_by(view, wanted)
    return None if servers is None else _observed(view, wanted, str(servers.count(wanted.server)))


class ServerSpread(Calls):
    """How many different servers answer the next calls."""


@observation("server-spread", ServerSpread)
def server_spread(view: View, wanted: ServerSpread) -> Observed | None:
    servers = answered_by(view, wanted)
    return None if servers is None else _observed(view, wanted, str(len(set(servers))))


class FirstChange(Calls):
    """The place, from 1, of the first call that another server answers than the first; 0 if one answers all."""


@observation("first-change", FirstChange)
def first_change(view: View, wanted: FirstChange) -> Observed | None:
    servers = answered_by(view, wanted)
    if not servers:
        return None
    place = next((place for place, server in enumerate(servers, start=1) if server != servers[0]), 0)
    return _observed(view, wanted, str(place))


def _observed(view: View, wanted: Calls, value: str) -> Observed:
    seen = words("in {n} calls", "共 {n} 次访问", n=wanted.count)
    return Observed(value, seen, wanted.client or view.client)


class EntryState(Entry):
    """The state of the director's entry for a call that has just ended: ESTABLISHED, FIN_WAIT, TIME_WAIT, …"""

    client: NodeName | None = None
    vip: str | None = None
    director: Director = "director"


@observation("entry-state", EntryState)
def entry_state(view: View, wanted: EntryState) -> Observed | None:
    found = entry_of_call(view, wanted.client, wanted.vip, wanted.director)
    if found is None:
        return None
    seen = words("the entry of client port {port}", "客户端口 {port} 的表项", port=found.client_port)
    return Observed(found.state, seen, wanted.director)
