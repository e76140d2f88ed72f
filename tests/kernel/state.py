"""What a network is to the kernel, as `ip`, `tc`, `bridge`, `sysctl`, `ethtool` and `ipvsadm` report it.

For comparing two. Numbers that the kernel gives out as it likes (interfaces, queueing disciplines, random MACs,
timers) are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lvslab.kernels.start import RunningKernel
from tests.kernel.support import run_script

State = Mapping[str, Sequence[str]]
"""By namespace and program: what it says, item by item."""

COLLECT = """
cat >/tmp/questions <<END
link show
addr show
route show table all
END
for node in $(ls /run/netns); do
    echo "@ $node ip"; ip -n "$node" -j -d -batch /tmp/questions
    nsenter --net="/run/netns/$node" sh -c '
        node=$1
        if [ -s /proc/net/if_inet6 ]; then echo "@ $node ip -6 route"; ip -6 -j route show table all; fi
        echo "@ $node sysctl"; grep -rs . /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf \
            /proc/sys/net/ipv6/conf /proc/sys/net/ipv4/vs/conntrack /proc/sys/net/ipv4/vs/pmtu_disc
        for device in eth0 eth1; do
            if [ -e "/proc/sys/net/ipv4/conf/$device" ]; then
                echo "@ $node ethtool $device"; ethtool -k "$device"
            fi
        done
        echo "@ $node tc"; tc qdisc show | sed "s/ [0-9a-f]*: / /"
        if [ "$(wc -l </proc/net/ip_vs)" -gt 3 ]; then
            echo "@ $node ipvsadm"; ipvsadm -Sn; ipvsadm -Ln --nosort
        fi
        if [ -s /proc/net/ip_tables_names ]; then
            echo "@ $node iptables"; iptables-legacy -t mangle -S PREROUTING
            if grep -q nat /proc/net/ip_tables_names; then iptables-legacy -t nat -S POSTROUTING; fi
        fi
        if grep -qs filter /proc/net/ip_tables_names; then echo "@ $node filter"; iptables-legacy -S; fi
        if [ -s /proc/net/arp_tables_names ]; then echo "@ $node arptables"; arptables-legacy -L -n; fi
        if ip neigh show nud permanent | grep -q .; then echo "@ $node neigh"; ip neigh show nud permanent; fi
        ip fou show 2>/dev/null | sed "s/^/@ $node fou\\n/"' sh "$node"
done
"""
GIVEN_OUT = frozenset({"ifindex", "link_index", "link_netnsid", "bridge_id", "root_id", "permaddr"})
"""What the kernel makes up; `permaddr` is that of ip6tnl0, where the tunnel is built in (net/ipv6/ip6_tunnel.c)."""
OPERATIONAL_STATE = "operstate"
NO_CARRIER = "NO-CARRIER"
"""Both: the kernel follows a link's carrier on a schedule of its own (net/core/link_watch.c)."""
SWITCH = "sw-"
MULTICAST = '"dst": "ff00::/8"'
"""The kernel's own route of each device, in the order in which they came up; a sender says by which device."""


def read_state(kernel: RunningKernel) -> State:
    """Read the state of every namespace that `ip netns` knows in `kernel`."""
    sections = ("\n" + run_script(kernel, COLLECT).output).split("\n@ ")[1:]
    return {title: _items(title, body) for title, _, body in (section.partition("\n") for section in sections)}


def differences(one: State, other: State) -> dict[str, list[str]]:
    """Return the items that only one of the two has, in words that show them, by namespace and program."""
    found = {}
    for title in sorted(one.keys() | other.keys()):
        mine, theirs = one.get(title, ()), other.get(title, ())
        if mine != theirs:
            changed = [item for item in mine if item not in theirs] + [item for item in theirs if item not in mine]
            found[title] = changed or ["the order"]
    return found


def _items(title: str, body: str) -> list[str]:
    if "ip" in title.split():
        values = [value for line in body.splitlines() for value in json.loads(line)]
        items = [json.dumps(_normal(value, random_mac=title.startswith(SWITCH))) for value in values]
        others = [item for item in items if MULTICAST not in item]
        return others + sorted(item for item in items if MULTICAST in item)
    if title.endswith("ipvsadm"):
        return _by_service(body.splitlines())
    return sorted(body.splitlines()) if title.endswith("sysctl") else body.splitlines()


def _by_service(lines: Sequence[str]) -> list[str]:
    """Keep the servers of a service in order; services are hashed by their namespace's address (ip_vs_ctl.c)."""
    blocks: list[str] = []
    for line in lines:
        if line.lstrip().startswith(("->", "-a")) and blocks:
            blocks[-1] += "\n" + line
        else:
            blocks.append(line)
    return sorted(blocks)


def _normal(value: Any, *, random_mac: bool) -> Any:
    if isinstance(value, list):
        return [_normal(item, random_mac=random_mac) for item in value if item != NO_CARRIER]
    if isinstance(value, dict):
        return {
            key: _normal(item, random_mac=random_mac)
            for key, item in value.items()
            if key not in GIVEN_OUT | {OPERATIONAL_STATE}
            and not key.endswith("_timer")
            and not (random_mac and key == "address")
        }
    return value
