"""Calls that checks and observations make, and who answers them."""

from __future__ import annotations

from itertools import cycle, islice

from pydantic import Field

from lvslab.labs.fresh import Fresh, fresh_servers
from lvslab.labs.held_open import servers_beside
from lvslab.labs.node_names import NodeName
from lvslab.labs.view import View
from lvslab.topology.document import Connections, Entry, Texts


class Calls(Entry):
    """Calls by one client, one after another: to one VIP, or to several in turn."""

    client: NodeName | None = None
    vip: str | None = None
    vips: Texts = Field(default=(), description="the calls go to these in turn")
    times: Connections | None = Field(default=None, description="how many; default: one to each VIP")
    keep: bool = Field(default=False, description="each connection stays open until the last is made")
    after: Connections = Field(default=0, description="so many connections are opened first, and closed again")
    fresh: Fresh | None = Field(default=None, description="call a copy of the service, from its beginning")

    @property
    def count(self) -> int:
        return self.times or max(1, len(self.vips))


def answered_by(view: View, calls: Calls, count: int | None = None) -> list[str] | None:
    """Return who answers each call, or how it failed; None if there is no service to copy. Raises LookupError."""
    client, times = calls.client or view.client, count or calls.count
    if calls.fresh is not None:
        return fresh_servers(view, client, calls.vip, times, calls.fresh, keep=calls.keep)
    service = view.service(calls.vip)
    address, port = str(service.vip), service.port
    if calls.after:
        servers_beside(view, client, address, port, held=0, times=calls.after, keep=True)
    if calls.keep:
        return servers_beside(view, client, address, port, held=0, times=times, keep=True)
    if not calls.vips:
        return [outcome.server or outcome.status for outcome in view.call(client, times, calls.vip)]
    outcomes = [view.call(client, 1, vip)[0] for vip in islice(cycle(calls.vips), times)]
    return [outcome.server or outcome.status for outcome in outcomes]
