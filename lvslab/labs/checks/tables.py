"""The director's table of virtual services, as the kernel reads it back."""

from __future__ import annotations

from ipaddress import ip_address

from pydantic import Field

from lvslab.ipvs.model import AddressKey, Destination, FwmarkKey, ServiceEntry, endpoint
from lvslab.labs.finding import Finding, failed, judged, passed
from lvslab.labs.node_names import Director, NodeName
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import NOTHING, Words, same, words
from lvslab.topology.document import Entry, Mark, Persistence, Port, Texts, Weight
from lvslab.topology.model import Method, Protocol

_LETTERS = {Method.NAT: "-m", Method.TUN: "-i", Method.DR: "-g", Method.LOCAL: "-g"}


class Service(Entry):
    """The director has a virtual service at `vip`:`port` (or for a firewall mark), of this kind."""

    director: Director = "director"
    vip: str | None = None
    port: Port | None = None
    protocol: Protocol = Field(default=Protocol.TCP, strict=False)
    mark: Mark | None = None
    scheduler: Texts = ()
    persistence: Persistence | None = Field(default=None, description="seconds; 0: not persistent")


@check("service", Service)
def service(view: View, wanted: Service) -> Finding:
    key = _key(view, wanted)
    expected = _expected(wanted, key)
    entry = _find(view, wanted)
    if entry is None:
        return failed(expected, _listed(view, wanted.director), wanted.director, next_step=_look(wanted.director))
    found = entry.service
    if wanted.scheduler and found.scheduler not in wanted.scheduler:
        return failed(
            expected,
            words("it is scheduled by {name}", "现在使用 {name}", name=found.scheduler),
            wanted.director,
            next_step=_look(wanted.director),
        )
    seconds = found.persistence.timeout_s if found.persistence else 0
    if wanted.persistence is not None and seconds != wanted.persistence:
        return failed(
            expected,
            words("it keeps them for {s} s", "现在是 {s} 秒", s=seconds)
            if seconds
            else words("it is not persistent", "没有设置持久性"),
            wanted.director,
            next_step=_look(wanted.director),
        )
    return passed(expected, words("scheduled by {name}", "调度算法 {name}", name=found.scheduler), wanted.director)


def _expected(wanted: Service, key: str) -> Words:
    """Say all that is wanted of a service, in the same words whether it is so or not."""
    names = Words(" or ".join(wanted.scheduler), " 或 ".join(wanted.scheduler))
    by = words(", scheduled by {names}", "，调度算法为 {names}", names=names) if wanted.scheduler else NOTHING
    kept = NOTHING
    if wanted.persistence:
        kept = words(", persistent for {s} s", "，持久时间 {s} 秒", s=wanted.persistence)
    elif wanted.persistence == 0:
        kept = words(", not persistent", "，没有持久性")
    return words(
        "{director} has the virtual service {key}{by}{kept}",
        "{director} 上有虚拟服务 {key}{by}{kept}",
        director=wanted.director,
        key=key,
        by=by,
        kept=kept,
    )


class Servers(Service):
    """The service's real servers are these: weights by node name; `others` allows more."""

    servers: dict[NodeName, Weight]
    method: Method | None = Field(default=None, strict=False)
    server_port: Port | None = None
    others: bool = False


@check("servers", Servers)
def servers(view: View, wanted: Servers) -> Finding:
    key = _key(view, wanted)
    port = "" if wanted.server_port is None else f":{wanted.server_port}"
    listing = ", ".join(f"{node}{port} {weight}" for node, weight in wanted.servers.items())
    method = f" ({wanted.method}, {_LETTERS[wanted.method]})" if wanted.method else ""
    expected = words(
        "the real servers of {key} and their weights are {listing}{method}",
        "{key} 的真实服务器及权值为 {listing}{method}",
        key=key,
        listing=listing,
        method=method,
    )
    entry = _find(view, wanted)
    if entry is None:
        return failed(expected, _listed(view, wanted.director), wanted.director, next_step=_look(wanted.director))
    named = [(view.owner_of_address(str(one.destination.address)), one.destination) for one in entry.destinations]
    listed = sorted(named, key=lambda each: (each[0], each[1].port))
    found = dict(listed)
    seen = same(", ".join(_entry(node, one) for node, one in listed)) if listed else words("none", "没有")
    for node, weight in wanted.servers.items():
        one = found.get(node)
        if one is None or one.weight != weight or (wanted.method and one.method is not wanted.method):
            return failed(expected, seen, wanted.director, next_step=_look(wanted.director))
        if wanted.server_port not in (None, one.port):
            return failed(expected, seen, wanted.director, next_step=_look(wanted.director))
    more = len(listed) > len(wanted.servers)
    return judged(wanted.others or not more, expected, seen, wanted.director, next_step=_look(wanted.director))


def _entry(node: str, one: Destination) -> str:
    return f"{node}{f':{one.port}' if one.port else ''} {one.weight} ({one.method})"


def _key(view: View, wanted: Service) -> str:
    if wanted.mark is not None:
        return f"FWM {wanted.mark}"
    default = view.service()
    address = ip_address(wanted.vip) if wanted.vip else default.vip
    return f"{wanted.protocol.value.upper()} {endpoint(address, _port(view, wanted))}"


def _port(view: View, wanted: Service) -> int:
    return view.service().port if wanted.port is None else wanted.port


def _find(view: View, wanted: Service) -> ServiceEntry | None:
    for entry in view.table(wanted.director):
        key = entry.service.key
        if isinstance(key, FwmarkKey):
            if key.mark == wanted.mark:
                return entry
        elif isinstance(key, AddressKey) and wanted.mark is None and str(key) == _key(view, wanted):
            return entry
    return None


def _listed(view: View, director: str) -> Words:
    found = ", ".join(str(entry.service.key) for entry in view.table(director))
    if found:
        return words("its table has only {found}", "表中只有 {found}", found=found)
    return words("its table is empty", "表是空的")


def _look(director: str) -> Words:
    return words("on {director}: ipvsadm -Ln", "在 {director} 上：ipvsadm -Ln", director=director)
