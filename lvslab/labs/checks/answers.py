"""Who answers the client's calls, and in which order."""

from __future__ import annotations

from collections import Counter

from lvslab.labs.calls import Calls, answered_by
from lvslab.labs.finding import Finding, failed, judged
from lvslab.labs.node_names import NodeName, NodeNames, NodeOrder
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import NOTHING, Words, same, words
from lvslab.topology.document import Connections, Entry
from lvslab.traffic.outcome import Outcome


class Answers(Entry):
    """All of so many calls are answered, and by each of these servers at least once."""

    client: NodeName | None = None
    vip: str | None = None
    times: Connections = 4
    servers: NodeNames = ()


@check("answers", Answers)
def answers(view: View, wanted: Answers) -> Finding:
    outcomes = view.call(wanted.client, wanted.times, wanted.vip)
    client = wanted.client or view.client
    by = words(", from {servers}", "，来自 {servers}", servers=" ".join(wanted.servers)) if wanted.servers else NOTHING
    expected = words(
        "{client} gets an answer {n} times{by}",
        "{client} 的 {n} 次访问都有回答{by}",
        client=client,
        n=wanted.times,
        by=by,
    )
    unanswered = [outcome for outcome in outcomes if not outcome.ok]
    if unanswered:
        return failed(
            expected,
            _told(outcomes),
            client,
            next_step=_look(view, client),
        )
    found = {outcome.server for outcome in outcomes}
    return judged(not wanted.servers or found == set(wanted.servers), expected, _told(outcomes), client)


def _look(view: View, client: str) -> Words:
    walk = "lvslab lab walk" + ("" if client == view.client else f" --from {client}")
    return words(
        "{walk} shows how far a call's packets came; on a server, ip route get {address} shows the way of its answers",
        "{walk} 可以看到一次访问的数据包走到了哪里；在服务器上用 ip route get {address} 可以看到应答走哪条路",
        walk=walk,
        address=view.topology.node(client).own_addresses[0],
    )


class Order(Calls):
    """The calls are answered by just these servers, in this order."""

    servers: NodeOrder


@check("order", Order)
def order(view: View, wanted: Order) -> Finding:
    servers = wanted.servers if len(wanted.servers) > 1 else tuple(wanted.servers[0].split())
    expected = words("the calls go to {order}", "访问依次到达 {order}", order=" ".join(servers))
    client = wanted.client or view.client
    found = answered_by(view, wanted, len(servers))
    if found is None:
        return failed(expected, words("there is no service with servers to call", "没有可以访问的虚拟服务"), client)
    return judged(found == list(servers), expected, same(" ".join(found) or "-"), client)


class FirstChange(Calls):
    """The call at `place` is the first that another server answers than the first call."""

    place: Connections


@check("first-change", FirstChange)
def first_change(view: View, wanted: FirstChange) -> Finding:
    found = answered_by(view, wanted) or []
    expected = words(
        "call {n} is the first that goes to another server", "第 {n} 次访问最先到达另一台服务器", n=wanted.place
    )
    holds = (
        len(found) >= wanted.place
        and found[: wanted.place - 1] == found[:1] * (wanted.place - 1)
        and (found[wanted.place - 1] != found[0])
    )
    return judged(holds, expected, same(" ".join(found) or "-"), wanted.client or view.client)


class Share(Entry):
    """Of so many calls, the share of `server` is at least `least` and at most `most`, in per cent."""

    client: NodeName | None = None
    times: Connections
    server: NodeName
    least: int = 0
    most: int = 100


@check("share", Share)
def share(view: View, wanted: Share) -> Finding:
    outcomes = view.call(wanted.client, wanted.times)
    got = sum(outcome.server == wanted.server for outcome in outcomes)
    expected = words(
        "{server} gets {least} to {most} % of {times} calls",
        "{times} 次访问中 {server} 占 {least} 到 {most} %",
        server=wanted.server,
        least=wanted.least,
        most=wanted.most,
        times=wanted.times,
    )
    holds = wanted.least * wanted.times <= 100 * got <= wanted.most * wanted.times
    return judged(holds, expected, _told(outcomes), wanted.server)


def _told(outcomes: tuple[Outcome, ...]) -> Words:
    """Return the answers in order, counted where there are many."""
    names = [outcome.server or outcome.status for outcome in outcomes]
    if len(names) <= 16:
        return same(" ".join(names))
    return same(", ".join(f"{name} {count}×" for name, count in Counter(names).most_common()))
