"""The file format: one pydantic model per mapping of a topology file, types only.

What the values mean together is checked elsewhere; ranges are shared with those checks through
:mod:`lvslab.topology.limits`, and appear here in the JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from lvslab.topology import limits
from lvslab.topology.model import (
    Application,
    ArpCure,
    Filter,
    Protocol,
    Role,
    SchedulerFlag,
    Setting,
    TunnelChecksum,
    TunnelKind,
)
from lvslab.topology.shaping import EVERY

OTHER_KIND = "other_kind"
"""Type of the errors raised here; their context says what was `expected`."""


def _other_kind(expected: str) -> PydanticCustomError:
    return PydanticCustomError(OTHER_KIND, "wrong kind of value", {"expected": expected})


def _whole_number(value: object) -> object:
    """Take a number in quotes for a number: quotes keep a template with ``"{{ port }}"`` valid YAML."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        return int(value)
    return value


def _text_or_number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def texts_of(value: object) -> object:
    """Take one text for a list of one. Raises PydanticCustomError for what is neither."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str):
        return (value,)
    raise _other_kind("text or a list of texts")


def _hosts(value: object) -> object:
    items = value if isinstance(value, list) else [value]
    texts = tuple(_text_or_number(item) for item in items)
    if not all(isinstance(text, str) for text in texts):
        raise _other_kind("a host number, '11+' to count up, an address, or a list of these")
    return texts


def _network(value: object) -> object:
    return value if isinstance(value, dict) else {"subnets": value}


def _of_cards(value: object) -> object:
    """Take one value for all cards of a node."""
    if not isinstance(value, dict):
        value = {EVERY: value}
    return {key: _text_or_number(each) for key, each in value.items()}


def _servers(value: object) -> object:
    if isinstance(value, str):
        return [{"node": value}]
    if isinstance(value, list):
        return [{"node": item} if isinstance(item, str) else item for item in value]
    raise _other_kind("a node or group of nodes, or a list of these")


def _drops(value: object) -> object:
    """Take one or several; `none` lets a parameter say that nothing is dropped."""
    texts = value if isinstance(value, list) else [value]
    if texts == [NOTHING]:
        return ()
    found = tuple(each for each in Filter if each in texts)
    if len(found) < len(texts):
        raise _other_kind(f"{', '.join(Filter)}, a list of these, or {NOTHING}")
    return found


def _whole_schema(numbers: limits.Range) -> WithJsonSchema:
    number = {"type": "integer", "minimum": numbers.low, "maximum": numbers.high}
    return WithJsonSchema({"anyOf": [number, {"type": "string", "pattern": "^[0-9]+$"}]})


NOTHING = "none"
_DROPS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "enum": [*Filter, NOTHING]},
        {"type": "array", "items": {"type": "string", "enum": list(Filter)}},
    ]
}
_NUMBER = BeforeValidator(_whole_number)
_REMOVAL_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "pattern": f"^({'|'.join(Setting)})(@.+)?$"},
}

Port = Annotated[int, _NUMBER, _whole_schema(limits.PORT)]
Weight = Annotated[int, _NUMBER, _whole_schema(limits.WEIGHT)]
Persistence = Annotated[int, _NUMBER, _whole_schema(limits.PERSISTENCE_S)]
ClientPrefix = Annotated[int, _NUMBER, _whole_schema(limits.IPV6_PREFIX)]
Mark = Annotated[int, _NUMBER, _whole_schema(limits.MARK)]
Threshold = Annotated[int, _NUMBER, _whole_schema(limits.THRESHOLD)]
VipPrefix = Annotated[int, _NUMBER, _whole_schema(limits.IPV6_PREFIX)]
IpVersion = Annotated[Literal[4, 6], _NUMBER]
Ttl = Annotated[int, _NUMBER, _whole_schema(limits.TTL_S)]
Connections = Annotated[int, _NUMBER, _whole_schema(limits.CONNECTIONS)]
RequestBytes = Annotated[int, _NUMBER, _whole_schema(limits.REQUEST_BYTES)]
Mtu = Annotated[int, _NUMBER, _whole_schema(limits.MTU)]
Mss = Annotated[int, _NUMBER, _whole_schema(limits.MSS)]
AnswerBytes = Annotated[int, _NUMBER, _whole_schema(limits.ANSWER_BYTES)]
Texts = Annotated[tuple[str, ...], BeforeValidator(texts_of, json_schema_input_type=str | list[str])]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_hosts, json_schema_input_type=int | str | list[int | str])]
SysctlValue = Annotated[str, BeforeValidator(_text_or_number, json_schema_input_type=int | str)]
Scheduler = Annotated[str, WithJsonSchema({"type": "string", "enum": list(limits.SCHEDULERS)})]
ServerKind = Annotated[str, WithJsonSchema({"type": "string", "enum": list(limits.SERVER_KINDS)})]
ExpectationGroup = Annotated[str, WithJsonSchema({"type": "string", "enum": list(limits.EXPECTATION_GROUPS)})]
Flag = Annotated[SchedulerFlag, Field(strict=False)]
Removals = Annotated[list[str], WithJsonSchema(_REMOVAL_SCHEMA)]
Rate = Annotated[str, BeforeValidator(_text_or_number)]
Delay = Annotated[str, BeforeValidator(_text_or_number)]
OfCards = Annotated[dict[str, str], BeforeValidator(_of_cards, json_schema_input_type=str | dict[str, str])]
Drops = Annotated[tuple[Filter, ...], BeforeValidator(_drops), WithJsonSchema(_DROPS_SCHEMA)]
Scalar = Annotated[Any, WithJsonSchema({"type": ["string", "number", "boolean"]})]


class Entry(BaseModel):
    """Base of all mappings of the format: unknown keys are faults, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TitleEntry(Entry):
    """One line for people, by language."""

    en: str
    zh: str | None = None


class NetworkEntry(Entry):
    """One layer-2 segment; a subnet alone, or a list of them, is short for `subnets`."""

    subnets: Texts = Field(description="one subnet, or one per IP version")
    rate: Rate | None = Field(default=None, description="of each card, each way: 100mbit; unlimited when absent")
    delay: Delay | None = Field(default=None, description="of each card, each way: 20ms; none when absent")
    mtu: Mtu | None = Field(default=None, description="of each card and switch port: bytes of an IP packet; 1500")


Networks = Annotated[NetworkEntry, BeforeValidator(_network, json_schema_input_type=str | list[str] | NetworkEntry)]


class RouteEntry(Entry):
    """A route beside the default one."""

    to: str = Field(description="a subnet")
    via: str = Field(description="an address on one of the node's networks")


class NodeEntry(Entry):
    """One machine, or a group of like machines."""

    role: Role = Field(strict=False)
    on: dict[str, Hosts] = Field(description="networks, in the order of eth0, eth1, …, and the host's address on each")
    gateway: str | None = Field(default=None, description="a node or an address; implied by the roles when absent")
    rate: OfCards | None = Field(default=None, description="each way: 100mbit, or by network; else the network's")
    delay: OfCards | None = Field(default=None, description="each way: 20ms, or by network; else the network's")
    drop: Drops = Field(default=(), description="what it neither takes in nor forwards, over IPv4")
    clamp_mss: Mss | None = Field(default=None, description="largest TCP segment that connections may agree on")
    server: ServerKind | None = None
    without: Removals = []
    sysctls: dict[str, SysctlValue] = {}
    routes: list[RouteEntry] = []
    addresses: dict[str, Texts] = Field(default={}, description="by device: addresses with prefix length")


class ServerEntry(Entry):
    """A real server, or a group of them, as one virtual service sees it."""

    node: str = Field(description="a node, rs[1-4], or a pattern with *")
    weight: Weight | None = None
    port: Port | None = Field(default=None, description="NAT only: the port on the server, when it differs")
    upper: Threshold = Field(default=0, description="no new connections from so many on; 0: no limit")
    lower: Threshold = Field(default=0, description="new ones again below so many; 0: three quarters of 'upper'")


Servers = Annotated[list[ServerEntry], BeforeValidator(_servers, json_schema_input_type=str | list[str | ServerEntry])]


class ServiceEntry(Entry):
    """A virtual service at the director."""

    vip: str
    port: Port
    method: Literal["nat", "tun", "dr"]
    scheduler: Scheduler
    servers: Servers
    protocol: Protocol = Field(default=Protocol.TCP, strict=False)
    weights: list[Weight] | None = Field(default=None, description="one per server, in order")
    persistence: Persistence | None = Field(default=None, description="seconds")
    persistence_prefix: ClientPrefix | None = Field(
        default=None, description="clients of one subnet of this prefix length count as one"
    )
    one_packet: bool = Field(default=False, description="UDP: each datagram is scheduled by itself")
    mark: Mark | None = Field(default=None, description="firewall mark; services of one mark are one to the director")
    flags: list[Flag] = []
    application: Application | None = Field(
        default=None, strict=False, description="HTTP, or over UDP and SCTP echo, when absent"
    )
    source_nat: bool = Field(default=False, description="NAT: the client's address is rewritten as well (FULLNAT)")
    arp_cure: ArpCure = Field(default=ArpCure.SYSCTLS, strict=False, description="what keeps servers silent in ARP")
    tunnel: TunnelKind = Field(default=TunnelKind.IPIP, strict=False, description="TUN: kind of the outer header")
    tunnel_checksum: TunnelChecksum = Field(default=TunnelChecksum.NONE, strict=False)
    tunnel_ip: IpVersion | None = Field(default=None, description="TUN: IP version of the outer header; the VIP's")
    vip_prefix: VipPrefix | None = Field(default=None, description="prefix length of the VIP on the servers' lo")
    director: str | None = Field(default=None, description="needed only when two directors share the VIP's network")


class NameEntry(Entry):
    """Round-robin DNS: one name for many servers."""

    name: str
    server: str = Field(description="node of the authoritative name server")
    servers: Texts
    resolver: str | None = Field(default=None, description="node of the caching resolver")
    ttl: Ttl = 30
    port: Port = 80


class TrafficEntry(Entry):
    """What the test drive sends."""

    connections: Connections | None = None
    answer_bytes: AnswerBytes = 512
    request_bytes: RequestBytes = Field(default=0, description="each request is padded to so many")
    client: str | None = Field(default=None, description="the node that calls; without it: the first client")


class Document(Entry):
    """A topology file, rendered."""

    name: str
    networks: dict[str, Networks]
    nodes: dict[str, NodeEntry]
    title: TitleEntry | None = None
    params: dict[str, Scalar] = {}
    services: list[ServiceEntry] = []
    dns: list[NameEntry] = []
    without: Removals = []
    expect: list[ExpectationGroup] = []
    traffic: TrafficEntry = TrafficEntry()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a rendered topology file, made from these models."""
    schema = Document.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
