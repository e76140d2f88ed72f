"""A topology file to begin with: small, commented, and correct as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lvslab.authoring.choices import Choices, Forwarding
from lvslab.errors import BadInput
from lvslab.new_files import new_files
from lvslab.topology.checks.names import TOPOLOGY_NAME_LENGTH, is_label
from lvslab.topology.loading import load_text
from lvslab.topology.model import Protocol

_PORTS: Final = {Protocol.TCP: 80, Protocol.UDP: 5060, Protocol.SCTP: 5060}
_TITLES: Final = {
    Forwarding.NAT: ("Network address translation", "网络地址转换"),
    Forwarding.DR: ("Direct routing", "直接路由"),
    Forwarding.TUN: ("IP tunnelling", "IP 隧道"),
    Forwarding.FULLNAT: ("FULLNAT, source and destination rewritten", "FULLNAT：源地址与目的地址都改写"),
}
_BEHIND_DIRECTOR: Final = """\
#   client ──── outside ──── director ──── inside ──── rs1, rs2, …
"""
_BESIDE_DIRECTOR: Final = """\
#   client ──── outside ──── router ──── inside ──┬── director
#                                                 └── rs1, rs2, …
"""
_BEYOND_ROUTER: Final = """\
#   client, director ──── outside ──── router ──── inside ──── rs1, rs2, …
"""
_DRAWINGS: Final = {
    Forwarding.NAT: _BEHIND_DIRECTOR,
    Forwarding.FULLNAT: _BEHIND_DIRECTOR,
    Forwarding.DR: _BESIDE_DIRECTOR,
    Forwarding.TUN: _BEYOND_ROUTER,
}
_FAULTS: Final = {
    Forwarding.NAT: "ip_forward@director",
    Forwarding.FULLNAT: "masquerade@director",
    Forwarding.DR: "vip@rs1",
    Forwarding.TUN: "tunnel@rs1",
}
_SUBNETS: Final = {
    "4": {"outside": "203.0.113.0/24", "inside": "198.18.0.0/23"},
    "6": {"outside": "2001:db8:1::/64", "inside": "2001:db8:2::/64"},
}
"""For documentation and benchmarks (RFC 5737, RFC 2544, RFC 3849)."""
_VIPS: Final = {
    "4": {"outside": "203.0.113.100", "inside": "198.18.0.10"},
    "6": {"outside": "2001:db8:1::100", "inside": "2001:db8:2::a"},
}
_HOSTS: Final = {"4": (10, 11), "6": (16, 17)}
"""Numbers of the client and of the first server; in IPv6 ::10 and ::11."""


def begin_topology(path: Path, choices: Choices) -> None:
    """Write a topology to a file that is not there yet. Raises BadInput."""
    text = topology_text(choices)
    load_text(text, str(path))
    try:
        with new_files() as made:
            made.write(path, text)
    except FileExistsError as error:
        raise BadInput("there is something already", where=str(path), next_step="choose another name") from error
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", where=str(path)) from error


def check_name(name: str, where: str) -> None:
    """Raise BadInput unless a topology can be called `name`."""
    if not is_label(name, TOPOLOGY_NAME_LENGTH):
        raise BadInput(
            "no name for a topology", where=where, expected="letters a-z, digits and inner hyphens", found=repr(name)
        )


def topology_text(choices: Choices) -> str:
    """Return the text of a topology that lints clean."""
    return "\n".join([*_head(choices), *_networks(choices), *_nodes(choices), *_services(choices)]) + "\n"


def _head(choices: Choices) -> Iterator[str]:
    english, chinese = _TITLES[choices.forwarding]
    yield f"# {english}, {choices.protocol.upper()} over IPv{choices.family}: say here what it is meant to show."
    yield "#"
    yield _DRAWINGS[choices.forwarding] + "#"
    yield "# And how to break it:"
    yield f"#   lvslab verify FILE --without {_FAULTS[choices.forwarding]}"
    yield ""
    yield f'name: "{choices.name}"'
    yield f"title: {{en: {_quoted(english)}, zh: {chinese}}}"
    yield ""
    yield "params:   # defaults; --set real_servers=4 replaces one"
    yield f"  real_servers: {choices.real_servers}"
    yield f"  scheduler: {choices.scheduler}"
    yield ""


def _quoted(text: str) -> str:
    """A comma would end a value in braces."""
    return f'"{text}"' if "," in text else text


def _networks(choices: Choices) -> Iterator[str]:
    yield "networks:"
    for name, subnet in _SUBNETS[choices.family].items():
        yield f"  {name}: {subnet}"
    yield ""


def _nodes(choices: Choices) -> Iterator[str]:
    client, first_server = _HOSTS[choices.family]
    director = {
        Forwarding.DR: "{inside: 2}",
        Forwarding.TUN: "{outside: 2}",
    }.get(choices.forwarding, "{outside: 2, inside: 1}")
    yield "nodes:"
    yield f"  client: {{role: client, on: {{outside: {client}}}}}"
    if choices.forwarding in (Forwarding.DR, Forwarding.TUN):
        yield "  router: {role: router, on: {outside: 1, inside: 1}}"
    yield f"  director: {{role: director, on: {director}}}"
    yield "  rs[1-{{ real_servers }}]:"
    yield "    role: real-server"
    yield f"    on: {{inside: {first_server}+}}   # counted up: rs1 has the first address"
    yield ""


def _services(choices: Choices) -> Iterator[str]:
    network = "inside" if choices.forwarding is Forwarding.DR else "outside"
    full = choices.forwarding is Forwarding.FULLNAT
    yield "services:"
    yield f"  - vip: {_VIPS[choices.family][network]}"
    yield f"    port: {_PORTS[choices.protocol]}"
    if choices.protocol is not Protocol.TCP:
        yield f"    protocol: {choices.protocol}"
    yield f"    method: {Forwarding.NAT if full else choices.forwarding}"
    if full:
        yield "    source_nat: true"
    yield '    scheduler: "{{ scheduler }}"'
    yield "    servers: rs*"
    if choices.family == "6":
        yield ""
        yield "expect: [method, answers, scheduler, statistics, checksums]   # IPv6 has no ARP"
