"""What builds the network: `netns` (network namespaces, veth pairs and bridges) or `mininet`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.sandbox.backends.netns import NetnsBackend

NETNS, MININET = "netns", "mininet"
BACKENDS = (NETNS, MININET)


def need_backend(name: str) -> None:
    """Raise BadInput if there is no such backend, and CannotRun if this machine lacks what it needs."""
    if name not in BACKENDS:
        raise BadInput("unknown backend", where="--backend", expected=" or ".join(BACKENDS), found=name)
    if name == MININET:
        from lvslab.mininet.install import need_mininet

        need_mininet()


def backend_class(name: str) -> type[NetnsBackend]:
    if name == MININET:
        from lvslab.sandbox.backends.mininet import MininetBackend

        return MininetBackend
    from lvslab.sandbox.backends.netns import NetnsBackend

    return NetnsBackend
