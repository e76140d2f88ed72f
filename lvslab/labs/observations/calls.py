"""Who answers the client's next calls."""

from __future__ import annotations

from pydantic import Field

from lvslab.labs.fresh import Fresh, fresh_servers
from lvslab.labs.registry import Observed, observation
from lvslab.labs.view import View
from lvslab.labs.words import words
from lvslab.topology.document import Connections, Entry


class ServerOrder(Entry):
    """The servers that answer the next calls, in order; `only` keeps one of them, counted from 1."""

    client: str | None = None
    vip: str | None = None
    times: Connections
    only: Connections | None = None
    fresh: Fresh | None = Field(default=None, description="call a copy of the service, from its beginning")


@observation("server-order", ServerOrder)
def server_order(view: View, wanted: ServerOrder) -> Observed | None:
    servers = _servers(view, wanted.client, wanted.vip, wanted.times, wanted.fresh)
    if servers is None or len(servers) < (wanted.only or wanted.times):
        return None
    value = " ".join(servers) if wanted.only is None else servers[wanted.only - 1]
    return Observed(value, words("in {n} calls", "共 {n} 次访问", n=wanted.times), wanted.client or view.client)


class ServerCount(Entry):
    """How many of the next calls one server answers."""

    client: str | None = None
    times: Connections
    server: str
    fresh: Fresh | None = Field(default=None, description="call a copy of the service, from its beginning")


@observation("server-count", ServerCount)
def server_count(view: View, wanted: ServerCount) -> Observed | None:
    servers = _servers(view, wanted.client, None, wanted.times, wanted.fresh)
    if servers is None:
        return None
    seen = words("in {n} calls", "共 {n} 次访问", n=wanted.times)
    return Observed(str(servers.count(wanted.server)), seen, wanted.server)


class EntryState(Entry):
    """The state of the director's entry for a call that has just ended: ESTABLISHED, FIN_WAIT, TIME_WAIT, …"""

    client: str | None = None
    director: str = "director"


@observation("entry-state", EntryState)
def entry_state(view: View, wanted: EntryState) -> Observed | None:
    (outcome,) = view.call(wanted.client)
    entries = view.lab.connections(wanted.director)
    found = next((entry for entry in entries if entry.client_port == outcome.client_port), None)
    if found is None:
        return None
    seen = words("the entry of client port {port}", "客户端口 {port} 的表项", port=outcome.client_port)
    return Observed(found.state, seen, wanted.director)


def _servers(view: View, client: str | None, vip: str | None, times: int, fresh: Fresh | None) -> list[str] | None:
    if fresh is not None:
        return fresh_servers(view, client, vip, times, fresh)
    return [outcome.server or outcome.status for outcome in view.call(client, times, vip)]
