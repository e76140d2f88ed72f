"""What builds the network: `netns` (network namespaces, veth pairs and bridges) or `mininet`.

`mininet:ovs` is Mininet with Open vSwitch in the place of Linux bridges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.sandbox.backends.netns import NetnsBackend

NETNS, MININET, MININET_OVS = "netns", "mininet", "mininet:ovs"
BACKENDS = (NETNS, MININET, MININET_OVS)


def need_backend(name: str) -> None:
    """Raise BadInput if there is no such backend, and CannotRun if this machine lacks what it needs."""
    if name not in BACKENDS:
        raise BadInput("unknown backend", where="--backend", expected=" or ".join(BACKENDS), found=name)
    if name != NETNS:
        from lvslab.mininet.install import need_mininet, need_open_vswitch

        need_mininet()
        if name == MININET_OVS:
            need_open_vswitch()


def backend_class(name: str) -> type[NetnsBackend]:
    if name != NETNS:
        from lvslab.sandbox.backends.mininet import MininetBackend, OpenVSwitchBackend

        return OpenVSwitchBackend if name == MININET_OVS else MininetBackend
    from lvslab.sandbox.backends.netns import NetnsBackend

    return NetnsBackend
