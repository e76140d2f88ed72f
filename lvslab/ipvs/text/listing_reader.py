"""Reading what `ipvsadm -Ln` printed, with or without --nosort and --tun-info (ipvsadm.c: print_service_entry)."""

from __future__ import annotations

import re
from typing import Final

from lvslab.errors import BadInput
from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, FwmarkKey, Persistence, Service, ServiceKey
from lvslab.ipvs.text.values import endpoint_of, flags_of, mark_of, number_of, prefix_of, word_of
from lvslab.ipvs.text.written import LineFaults, WrittenService
from lvslab.topology.model import IPIP, Method, Protocol, Tunnel, TunnelChecksum, TunnelKind

_TITLES: Final = ("IP Virtual Server version ", "Prot LocalAddress:Port ")
_COLUMNS: Final = re.compile(r"-> RemoteAddress:Port\s+(?P<columns>.*)")
_PLAIN: Final = ["Forward", "Weight", "ActiveConn", "InActConn"]
_WITH_TUNNEL: Final = ["Forward", "TunnelInfo", "Weight", "ActiveConn", "InActConn"]
_SERVICE = re.compile(
    r"(?:(?P<protocol>TCP|UDP|SCTP) +(?P<endpoint>\S+)|FWM +(?P<mark>-?\d+)(?P<v6> IPv6)?)"
    r" (?P<scheduler>\S+)(?: \((?P<flags>[^)]*)\))?"
    r"(?: persistent (?P<timeout>\d+)(?: mask (?P<mask>\S+))?(?: pe (?P<engine>\S+))?)?(?P<ops> ops)?"
)
_METHODS: Final = {"Masq": Method.NAT, "Route": Method.DR, "Tunnel": Method.TUN, "Local": Method.DR}
"""Local is what old kernels made of Route when the address was their own; ipvsadm saves it as -g, too."""
_CHECKSUMS: Final = {"-c": TunnelChecksum.NONE, "+c": TunnelChecksum.PRESENT, "r+c": TunnelChecksum.REMOTE}


def is_listing(text: str) -> bool:
    """Tell whether a text begins as ipvsadm's listings do."""
    return any(line.startswith(_TITLES) for line in text.splitlines()[:20])


def read_listing(text: str, source: str) -> tuple[WrittenService, ...]:
    """Return the listed services, in the order of the text; `source` is what errors call it.

    Text before the title (a prompt, the command typed) is left alone. Raises BadInputs.
    """
    services: list[WrittenService] = []
    faults = LineFaults(source)
    columns: list[str] | None = None
    for line, content in enumerate(text.splitlines(), 1):
        try:
            if (found := _COLUMNS.fullmatch(content.strip())) is not None:
                columns = _known_columns(found["columns"])
            elif columns is not None and content.strip():
                _take(content, line, columns, services)
        except BadInput as error:
            faults.add(line, error)
            if columns is None:
                break
    faults.raise_any()
    if columns is None:
        raise BadInput("no title line", where=source, expected="'-> RemoteAddress:Port …' as ipvsadm -Ln prints it")
    return tuple(services)


def _known_columns(text: str) -> list[str]:
    columns = text.split()
    if columns in (_PLAIN, _WITH_TUNNEL):
        return columns
    raise BadInput(
        "a listing without forwarding methods", expected=" ".join(_PLAIN), found=text, next_step="use ipvsadm -Ln"
    )


def _take(content: str, line: int, columns: list[str], services: list[WrittenService]) -> None:
    words = content.split()
    if words[0] != "->":
        services.append(WrittenService(_service(content.strip()), line))
    elif not services:
        raise BadInput("a server before any service", found=repr(content.strip()))
    elif len(words) != len(columns) + 2:
        raise BadInput("a row of another length", expected=" ".join(columns), found=repr(content.strip()))
    else:
        row = dict(zip(columns, words[2:], strict=True))
        services[-1] = services[-1].with_destination(_destination(words[1], row), line)


def _service(text: str) -> Service:
    found = _SERVICE.fullmatch(text)
    if found is None:
        raise BadInput("not a service", expected="a line as ipvsadm -Ln prints it", found=repr(text))
    key = _key(found)
    flags = flags_of(found["flags"]) if found["flags"] else frozenset()
    return Service(key, found["scheduler"], _persistence(found, key), flags | _ops(found))


def _ops(found: re.Match[str]) -> frozenset[Flag]:
    return frozenset({Flag.ONE_PACKET} if found["ops"] else ())


def _key(found: re.Match[str]) -> ServiceKey:
    if found["mark"]:
        return FwmarkKey(mark_of(found["mark"]), Family.IPV6 if found["v6"] else Family.IPV4)
    address, port = endpoint_of(found["endpoint"])
    return AddressKey(Protocol(found["protocol"].lower()), address, port or 0)


def _persistence(found: re.Match[str], key: ServiceKey) -> Persistence | None:
    if not found["timeout"]:
        return None
    prefix = prefix_of(found["mask"], key.family) if found["mask"] else None
    return Persistence(int(found["timeout"]), prefix, found["engine"])


def _destination(endpoint: str, row: dict[str, str]) -> Destination:
    address, port = endpoint_of(endpoint)
    return Destination(
        address=address,
        port=port or 0,
        method=word_of(_METHODS, row["Forward"], "forwarding method"),
        weight=number_of(row["Weight"], "weight", 0, 2**31 - 1),
        tunnel=_tunnel(row.get("TunnelInfo", "n/a")),
    )


def _tunnel(info: str) -> Tunnel:
    """Return what --tun-info says: `ipip`, `gre:+c`, `gue:6080:-c`, or `n/a`."""
    if info == "n/a":
        return IPIP
    kind, *rest = info.split(":")
    port = number_of(rest.pop(0), "tunnel port", 0, 65535) if kind == TunnelKind.GUE and rest else 0
    checksum = word_of(_CHECKSUMS, rest[0], "tunnel checksum") if rest else TunnelChecksum.NONE
    return Tunnel(word_of({kind.value: kind for kind in TunnelKind}, kind, "tunnel type"), port, checksum)
