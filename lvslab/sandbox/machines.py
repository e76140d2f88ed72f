"""What a node's own files say: /etc/hosts with every node of the lab, /etc/resolv.conf with its name servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lvslab.agent.machines import FOLDER

if TYPE_CHECKING:
    from lvslab.topology.model import Address, Topology

HOSTS = "/etc/hosts"
RESOLVER = "/etc/resolv.conf"
SHELL_START = "bashrc"
"""Not a path: it is put into the node's own folder, see :func:`shell_start_file`."""

_SHELL_START = """\
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion
PS1='\\h# '
unset PROMPT_COMMAND HISTFILE
alias ls='ls --color=auto' ip='ip --color=auto' grep='grep --color=auto'
"""


def machine_files(topology: Topology) -> dict[str, dict[str, str]]:
    """Return each node's files: contents by path, by node."""
    hosts = _hosts(topology)
    servers = _name_servers(topology)
    return {node.name: {HOSTS: hosts, RESOLVER: servers, SHELL_START: _SHELL_START} for node in topology.nodes}


def shell_start_file(node: str) -> str:
    """Return the path, as the node sees it, of what its shell reads first."""
    return str(FOLDER / node / SHELL_START)


def _hosts(topology: Topology) -> str:
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address} {name}" for name, address in host_names(topology)]
    return "\n".join(lines) + "\n"


def host_names(topology: Topology) -> Iterator[tuple[str, Address]]:
    """Yield what nodes know each other and the VIPs by: the node's name; vip, vip2, …"""
    yield from ((node.name, address) for node in topology.nodes for address in node.own_addresses)
    vips = dict.fromkeys(service.vip for service in topology.services)
    yield from (("vip" if number == 1 else f"vip{number}", vip) for number, vip in enumerate(vips, 1))


def _name_servers(topology: Topology) -> str:
    """A caching resolver where there is one, else the name server itself."""
    nodes: Mapping[str, None] = dict.fromkeys(item.resolver or item.server for item in topology.name_services)
    addresses = [topology.node(node).own_addresses[0] for node in nodes]
    return "".join(f"nameserver {address}\n" for address in addresses) or "# no name server in this lab\n"
