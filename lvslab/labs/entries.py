"""The entry that a call leaves in a director's connection table, once the call's last packets have passed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lvslab.labs.view import View

if TYPE_CHECKING:
    from lvslab.ipvs.model import Connection

PAUSE_S = 0.1
READINGS = 20
ALIKE = 3
"""So many readings in a row must show one state. The client is done with its last FIN still on the way."""


def entry_of_call(view: View, client: str | None, vip: str | None, director: str) -> Connection | None:
    """Call once, and return the director's entry when its state has settled; None if there is none.

    A call that has ended closes its connection, so one that is still ESTABLISHED is waited for as long as may be.
    """
    (outcome,) = view.call(client, 1, vip)
    caller = view.topology.node(outcome.client).own_addresses
    states: list[str] = []
    found = None
    for _ in range(READINGS):
        entries = (entry for entry in view.connections(director) if str(entry.virtual) == outcome.address)
        mine = (entry for entry in entries if entry.client in caller and entry.client_port == outcome.client_port)
        found = next(mine, None)
        states.append(found.state if found else "")
        if states[-ALIKE:] == states[-1:] * ALIKE and states[-1] != "ESTABLISHED":
            break
        time.sleep(PAUSE_S)
    return found
