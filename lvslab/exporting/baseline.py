"""What an engine has done to a container before our script runs, undone.

Docker, Kathará and the host's own settings may have given the container's interfaces addresses and routes, and turned
forwarding, filters or IPv6 on or off. A plan begins with a namespace as the kernel makes it, and so must a script:
else a cluster could pass, or fail, for what the engine did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lvslab.plan.steps import MakeLink, WriteSysctl
from lvslab.topology.model import Interface

_DEFAULTS = {
    "rp_filter": 0,
    "arp_ignore": 0,
    "arp_announce": 0,
    "accept_local": 0,
    "send_redirects": 1,
}
"""By Documentation/networking/ip-sysctl.rst."""
_SEED = ".conf.default."


def taken_down(interfaces: Sequence[Interface]) -> Iterator[str]:
    """Yield the lines that leave of an interface only its name, and give it its MAC and MTU.

    Down, it loses its routes, and its link-local address, which comes again as the plan has it.
    """
    for each in interfaces:
        yield f"ip link set {each.name} down"
        yield f"ip addr flush dev {each.name}"
        yield f"ip link set {each.name} address {each.mac} mtu {each.mtu}"


def kernel_defaults() -> Iterator[str]:
    """Yield the lines that write the kernel's own defaults, for devices that came with a module, too.

    Forwarding comes first: it resets others.
    """
    yield "sysctl -q -w net.ipv4.ip_forward=0"
    yield "for conf in /proc/sys/net/ipv4/conf/*; do"
    yield from (f'    echo {value} >"$conf/{key}"' for key, value in _DEFAULTS.items())
    yield "done"


def ipv6_defaults() -> Iterator[str]:
    """Yield the lines that turn IPv6 on, where a node has it, and its forwarding off."""
    yield "sysctl -q -w net.ipv6.conf.all.forwarding=0"
    yield 'for conf in /proc/sys/net/ipv6/conf/*; do echo 0 >"$conf/disable_ipv6"; done'


def seeded(step: WriteSysctl, links: Sequence[MakeLink]) -> Iterator[WriteSysctl]:
    """Yield a setting for later devices again for each interface: the engine made those before."""
    if _SEED in step.key:
        for link in links:
            yield WriteSysctl(step.node, step.key.replace(_SEED, f".conf.{link.interface}."), step.value)
