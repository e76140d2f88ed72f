"""A network's switch: a bridge in a namespace of its own, whose ports are named after the nodes at them."""

from __future__ import annotations

from lvslab.topology.tunnels import MODULES

BRIDGE = "br0"
"""Name of the bridge inside a switch's namespace."""
NO_PORTS = frozenset({"lo", BRIDGE, "all", "default", *MODULES, "gretap0", "erspan0"})
"""No port can have these names.

A namespace begins with the first ones and, once a tunnel's module is loaded, with those of its devices
(net/ipv4/ip_tunnel.c: ip_tunnel_init_net); `all` and `default` are scopes of sysctls, and the kernel refuses a device
called so (net/ipv4/devinet.c: sysctl_dev_name_is_allowed).
"""


def switch_name(network: str) -> str:
    """Return the namespace that holds a network's switch."""
    return f"sw-{network}"
