"""What a student has made of each node: the difference from the start as commands that make it again.

Taken when a step passes, and kept; a submission carries it, and grading types it into a fresh network. Covered are
addresses, devices, routes, neighbours, the sysctls that labs are about, the IPVS table with its timeouts, and filters.
Processes and files of a node are not: a lab must not depend on them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, TypeAdapter

from lvslab.errors import BadInput, CannotRun
from lvslab.labs.model import GuidedLab
from lvslab.labs.progress import STEPS, made_folder, replace_file, start_command, state_home, unreadable
from lvslab.labs.stored import STRICT, read_stored
from lvslab.topology.model import Role

if TYPE_CHECKING:
    from lvslab.lab import Lab

START = "start.json"
_SYSCTLS = (
    "net/ipv4/ip_forward net/ipv4/ip_default_ttl net/ipv4/conf net/ipv4/vs net/ipv4/ip_no_pmtu_disc "
    "net/ipv4/tcp_mtu_probing net/ipv6/conf"
)
_VOLATILE = ("stable_secret", "/mtu", "use_tempaddr")
"""Endings of settings that differ without anybody's doing, or are said elsewhere."""
FILTERS = ("iptables", "ip6tables", "arptables", "iptables-legacy", "ip6tables-legacy")
"""Where the first three write to nftables, some of our kernels have only the others."""
ARP_FILTERS = "arptables-legacy"
"""Its save and restore call `arptables`, which may be the nftables one: its own listing is read instead."""
MADE_KINDS = ("dummy", "ipip", "gre")
"""Kinds of devices that can be made again."""
_QUESTIONS = (
    "ip -j -d link show",
    "ip -j address show",
    "ip -j route show table all",
    "ip -j -6 route show table main",
    "ip -j rule show",
    "ip -j neighbour show nud permanent",
)
_MARK = "--8<--"

Facts = dict[str, Any]
"""One node's state: plain values by subject, of the kinds that _StoredFacts says."""


class _StoredLink(BaseModel):
    model_config = STRICT
    kind: str
    remote: str
    local: str
    up: bool
    arp: bool
    mtu: int


class _StoredFacts(BaseModel):
    """One node's state as it is kept; only directors have the last two."""

    model_config = STRICT
    links: dict[str, _StoredLink]
    addresses: list[str]
    routes: list[str]
    rules: list[str]
    neighbours: list[str]
    sysctls: dict[str, str]
    iptables: str
    ip6tables: str
    arptables: str
    iptables_legacy: str = Field(alias="iptables-legacy")
    ip6tables_legacy: str = Field(alias="ip6tables-legacy")
    arptables_legacy: list[str] = Field(alias="arptables-legacy")
    ipvs: str = ""
    timeouts: list[str] = []


_START_SHAPE = TypeAdapter(dict[str, _StoredFacts])
_SCRIPTS_SHAPE: TypeAdapter[Mapping[str, str]] = TypeAdapter(Mapping[str, str])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Commands by node, to be run in order by ``bash -e``."""

    scripts: Mapping[str, str]


def remember_start(guided: GuidedLab, lab: Lab) -> None:
    """Keep the state that the network begins with, for later differences. Raises KernelFault, CannotRun."""
    replace_file(state_home() / guided.id / START, json.dumps(network_facts(guided, lab)))


def remember_step(guided: GuidedLab, step_id: str, lab: Lab) -> None:
    """Keep what the student had made of the network when a step passed. Raises KernelFault, CannotRun."""
    folder = state_home() / guided.id
    made_folder(folder / STEPS)
    snapshot = difference(_start(folder / START, lab.nodes), network_facts(guided, lab))
    replace_file(folder / STEPS / f"{step_id}.json", json.dumps(dict(snapshot.scripts), indent=1))


def network_facts(guided: GuidedLab, lab: Lab) -> dict[str, Facts]:
    """Return the state of each node. Raises KernelFault, CannotRun."""
    return {name: _read(lab, name, director=name in _directors(guided)) for name in lab.nodes}


def difference(start: Mapping[str, Facts], now: Mapping[str, Facts]) -> Snapshot:
    """Return the commands that make of each node's state at the start what it is now."""
    lines = {name: list(_commands(start[name], facts)) for name, facts in now.items()}
    return Snapshot({name: "".join(f"{line}\n" for line in own) for name, own in lines.items() if own})


def _start(path: Path, nodes: Collection[str]) -> dict[str, Facts]:
    try:
        start = read_stored(_START_SHAPE, path.read_bytes())
        if start.keys() != set(nodes):
            raise ValueError(f"nodes {', '.join(start) or 'none'}")  # noqa: TRY301 - one reason among others
    except (OSError, ValueError) as error:
        raise CannotRun(
            "what this network began with is not known any more",
            where=str(path),
            found=(isinstance(error, OSError) and error.strerror) or str(error),
            next_step="lvslab lab reset builds it anew",
        ) from error
    return {node: facts.model_dump(by_alias=True) for node, facts in start.items()}


def read_steps(guided: GuidedLab) -> dict[str, Snapshot]:
    """Return what was kept, by step. Raises BadInput for what cannot be understood, CannotRun."""
    folder = state_home() / guided.id / STEPS
    found = {step.id: folder / f"{step.id}.json" for step in guided.steps}
    return {step_id: _snapshot(path, guided) for step_id, path in found.items() if path.exists()}


def _snapshot(path: Path, guided: GuidedLab) -> Snapshot:
    try:
        return Snapshot(read_stored(_SCRIPTS_SHAPE, path.read_bytes()))
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        again = f"{start_command(guided.id, str(guided.folder))} --again"
        raise BadInput(
            "what was kept of this step cannot be understood",
            where=str(path),
            found=str(error),
            next_step=f"move it away to submit without this step, or begin the lab anew: {again}",
        ) from error


def _directors(guided: GuidedLab) -> frozenset[str]:
    return frozenset(node.name for node in guided.topology.nodes if node.role is Role.DIRECTOR)


def _read(lab: Lab, node: str, *, director: bool) -> Facts:
    """Ask a node everything in one program run."""
    filters = [*(f"{tool}-save" for tool in FILTERS), f"{ARP_FILTERS} -L -n"]
    questions = [*_QUESTIONS, f"cd /proc/sys && grep -rs . {_SYSCTLS}", *filters]
    if director:
        questions.append("ipvsadm -l --timeout")
    script = f"; echo {shlex.quote(_MARK)}; ".join(f"({question}) 2>/dev/null" for question in questions)
    parts = lab.node(node).run("sh", "-c", script).output.split(f"{_MARK}\n")
    links, addresses, routes, routes6, rules, neighbours = (json.loads(part or "[]") for part in parts[:6])
    facts: Facts = {
        "links": {link["ifname"]: _link(link) for link in links},
        "addresses": sorted(_addresses(addresses)),
        "routes": sorted({_route(route) for route in [*routes, *routes6] if _by_hand(route)}),
        "rules": sorted(json.dumps(rule, sort_keys=True) for rule in rules),
        "neighbours": sorted(f"{one['dst']} lladdr {one['lladdr']} dev {one['dev']}" for one in neighbours),
        "sysctls": dict(_sysctls(parts[6])),
    }
    for tool, saved in zip(FILTERS, parts[7 : 7 + len(FILTERS)], strict=True):
        facts[tool] = _without_counters(saved)
    facts[ARP_FILTERS] = list(_arp_rules(parts[7 + len(FILTERS)]))
    if director:
        facts["ipvs"] = _table(lab, node)
        facts["timeouts"] = parts[8 + len(FILTERS)].strip().rpartition(":")[2].split()
    return facts


def _table(lab: Lab, node: str) -> str:
    from lvslab.ipvs.intent import from_kernel
    from lvslab.ipvs.text import saved_text

    return saved_text(map(from_kernel, lab.ipvs(node).services()))


def _link(link: Mapping[str, Any]) -> dict[str, Any]:
    info = link.get("linkinfo", {})
    kind, data = info.get("info_kind", ""), info.get("info_data", {})
    return {
        "kind": kind,
        "remote": data.get("remote", ""),
        "local": data.get("local", ""),
        "up": "UP" in link["flags"],
        "arp": "NOARP" not in link["flags"],
        "mtu": link["mtu"],
    }


def _addresses(devices: list[Mapping[str, Any]]) -> Iterator[str]:
    for device in devices:
        for one in device["addr_info"]:
            if not one["local"].startswith("fe80:"):
                yield f"{one['local']}/{one['prefixlen']} dev {device['ifname']}"


def _by_hand(route: Mapping[str, Any]) -> bool:
    return route.get("protocol") not in ("kernel", "ra") and route.get("type", "unicast") == "unicast"


def _route(route: Mapping[str, Any]) -> str:
    parts = [str(route["dst"])]
    for key, word in (("gateway", "via"), ("dev", "dev"), ("metric", "metric"), ("prefsrc", "src"), ("table", "table")):
        if key in route and not (key == "metric" and ":" in parts[0]):
            parts.append(f"{word} {route[key]}")
    for metric in route.get("metrics", []):
        parts += [f"{name} {value}" for name, value in metric.items()]
    return " ".join(parts)


def _sysctls(printed: str) -> Iterator[tuple[str, str]]:
    for line in printed.splitlines():
        path, colon, value = line.partition(":")
        if colon and not path.endswith(_VOLATILE):
            yield path, " ".join(value.split())


def _without_counters(saved: str) -> str:
    lines = [line for line in saved.splitlines() if line and not line.startswith("#")]
    return "\n".join(line.partition(" [")[0] + " [0:0]" if line.startswith(":") else line for line in lines)


def _arp_rules(listed: str) -> Iterator[str]:
    """Yield each chain's policy and rules as arguments that make them."""
    chain = ""
    for line in filter(None, map(str.strip, listed.splitlines())):
        if line.startswith("Chain "):
            _, chain, *rest = line.replace("(", "").replace(")", "").split()
            if rest[0] == "policy":
                yield f"-P {chain} {rest[1]}"
        else:
            yield f"-A {chain} {line}"


def _commands(start: Facts, now: Facts) -> Iterator[str]:
    yield from _sysctl_commands(start["sysctls"], now["sysctls"])
    yield from _link_commands(start["links"], now["links"])
    for gone in sorted(set(start["addresses"]) - set(now["addresses"])):
        yield f"ip address del {gone} || true"
    for new in sorted(set(now["addresses"]) - set(start["addresses"])):
        yield f"ip address replace {new}"
    for gone in sorted(set(start["routes"]) - set(now["routes"])):
        yield f"ip route del {gone} || true"
    for new in sorted(set(now["routes"]) - set(start["routes"]), key=lambda route: "via" in route):
        yield f"ip route replace {new}"
    for gone in sorted(set(start["neighbours"]) - set(now["neighbours"])):
        yield f"ip neighbour del {gone} || true"
    for new in sorted(set(now["neighbours"]) - set(start["neighbours"])):
        yield f"ip neighbour replace {new} nud permanent"
    for tool in FILTERS:
        if now[tool] != start[tool]:
            yield f"{tool}-restore <<'END'\n{now[tool]}\nEND"
    if now[ARP_FILTERS] != start[ARP_FILTERS]:
        yield f"{ARP_FILTERS} -F"
        yield from (f"{ARP_FILTERS} {rule}" for rule in now[ARP_FILTERS])
    if "ipvs" in now and now["ipvs"] != start["ipvs"]:
        yield "ipvsadm -C"
        yield from (f"ipvsadm {line}" for line in now["ipvs"].splitlines())
    if "timeouts" in now and now["timeouts"] != start["timeouts"]:
        yield f"ipvsadm --set {' '.join(now['timeouts'])}"


def _sysctl_commands(start: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield ip_forward first, since it sets others (ip-sysctl.rst), then `all` and `default` before single devices."""
    changed = [path for path, value in now.items() if start.get(path, value) != value]
    general = ("/ip_forward", "/all/forwarding"), ("/all/", "/default/")
    for path in sorted(changed, key=lambda path: [not any(word in path for word in words) for words in general]):
        yield f"echo {shlex.quote(now[path])} > /proc/sys/{path}"


def _link_commands(start: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in start.keys() - now.keys():
        yield f"ip link del {name}"
    for name, link in now.items():
        before = start.get(name)
        if before is None:
            if link["kind"] not in MADE_KINDS:
                yield f"# {name} ({link['kind'] or 'unknown kind'}) cannot be made again"
                continue
            ends = "".join(f" {end} {link[end]}" for end in ("remote", "local") if link[end])
            yield f"ip link add {name} type {link['kind']}{ends}"
        if before is None or before["mtu"] != link["mtu"]:
            yield f"ip link set {name} mtu {link['mtu']}"
        if before is None or before["arp"] != link["arp"]:
            yield f"ip link set {name} arp {'on' if link['arp'] else 'off'}"
        if before is None or before["up"] != link["up"]:
            yield f"ip link set {name} {'up' if link['up'] else 'down'}"
