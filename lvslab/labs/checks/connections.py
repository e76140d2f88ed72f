"""The director's connection table."""

from __future__ import annotations

from pydantic import Field

from lvslab.ipvs.templates import is_template
from lvslab.labs.finding import Finding, judged
from lvslab.labs.node_names import Director, NodeName
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import same, words
from lvslab.topology.document import Entry


class Connection(Entry):
    """The director has an entry in this state, and `least` to `most` of them."""

    director: Director = "director"
    state: str = Field(description="ESTABLISHED, FIN_WAIT, …; TEMPLATE for persistence templates")
    server: NodeName | None = None
    least: int = 1
    most: int | None = None


@check("connection", Connection)
def connection(view: View, wanted: Connection) -> Finding:
    entries = view.connections(wanted.director)
    states = [
        ("TEMPLATE" if is_template(entry) else entry.state, view.owner_of_address(str(entry.destination)))
        for entry in entries
    ]
    count = sum(state == wanted.state and wanted.server in (None, server) for state, server in states)
    most = "" if wanted.most is None else f"–{wanted.most}"
    expected = words(
        "{director} has {least}{most} entries in state {state}{server}",
        "{director} 的连接表中状态为 {state} 的表项有 {least}{most} 个{server}",
        director=wanted.director,
        least=wanted.least,
        most=most,
        state=wanted.state,
        server=same(f" ({wanted.server})" if wanted.server else ""),
    )
    listed = ", ".join(f"{state} ({server})" for state, server in states) or "-"
    holds = wanted.least <= count and (wanted.most is None or count <= wanted.most)
    look = words("on {director}: ipvsadm -Lnc", "在 {director} 上：ipvsadm -Lnc", director=wanted.director)
    return judged(holds, expected, same(listed), wanted.director, next_step=look)
