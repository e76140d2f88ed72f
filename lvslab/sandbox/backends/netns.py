"""Applies a plan with network namespaces, over netlink, in as few round trips as the steps allow.

Steps of one sort that follow one another travel together. Every answer of the kernel is checked; a refusal
names the step, the node and the errno in words.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from functools import singledispatchmethod
from itertools import chain, groupby
from pathlib import Path
from typing import Any, get_args

from lvslab.errors import CannotRun, KernelFault
from lvslab.ipvs.compare import compare
from lvslab.ipvs.intent import from_topology
from lvslab.ipvs.table import IpvsTable
from lvslab.kernels.channel import AgentError, Channel
from lvslab.plan import steps
from lvslab.plan.describe import describe
from lvslab.plan.tools import tool_call
from lvslab.sandbox import rtnl, traffic_control
from lvslab.sandbox.servers import Running, ServerStep, start_servers
from lvslab.sandbox.transport import NETLINK_ROUTE, NetlinkTransport, Target
from lvslab.topology.switches import BRIDGE

CAUSES = {
    errno.ENETUNREACH: "no address of the node is on the gateway's network",
    errno.EEXIST: "it is there already",
    errno.ENODEV: "there is no such device (a kernel module may be missing: lvslab doctor)",
    errno.EOPNOTSUPP: "this kernel cannot do that (lvslab doctor)",
    errno.EPERM: "root in this kernel is needed",
    errno.ENOENT: "this kernel lacks the setting (lvslab doctor)",
}

TOOL_TIMEOUT_S = 15.0
Phase = Callable[[Sequence[Any]], None]
"""Carries out steps of one sort that follow one another."""


class NetnsBackend:
    """One network being built, and the names of what it has made."""

    name = "netns"

    def __init__(self, channel: Channel, share: str) -> None:
        self._channel = channel
        self._share = share
        self._transport = NetlinkTransport(channel)
        self._namespaces: dict[str, int] = {}
        self._indexes: dict[tuple[str, str], int] = {}
        self._servers: list[Running] = []

    def apply(self, plan: steps.Plan) -> None:
        """Carry out all steps; on a failure everything made so far is removed and the error raised."""
        phases = self._phases()
        try:
            for carry_out, group in groupby(plan.steps, key=lambda step: phases.get(type(step), self._send_messages)):
                carry_out(list(group))
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Stop the network's servers and let go of its namespaces. Never hides another error."""
        servers, self._servers = self._servers, []
        names, self._namespaces = list(self._namespaces), {}
        self._indexes = {}
        try:
            for server in servers:
                server.stop(self._channel)
            if names:
                self._channel.request("remove_namespaces", names=names)
        except KernelFault:
            # The kernel that held them is gone, and they with it.
            return

    def _phases(self) -> dict[type[steps.Step], Phase]:
        """Return what carries out steps of each sort; the rest are single netlink messages."""
        return {
            steps.LoadModules: self._load_modules,
            steps.RequireSctp: self._require_sctp,
            steps.MakeNamespace: self._make_namespaces,
            steps.WriteSysctl: self._write_sysctls,
            steps.ChecksumOffloadOff: self._checksum_offload_off,
            **dict.fromkeys(get_args(steps.ToolStep), self._run_tools),
            steps.ReceiveOffloadOff: self._receive_offload_off,
            steps.InstallService: self._install_services,
            **dict.fromkeys(get_args(ServerStep), self._start_servers),
        }

    def _load_modules(self, group: Sequence[steps.LoadModules]) -> None:
        names = [name for step in group for name in step.names]
        self._ask(group[0], "load_modules", names=names)

    def _require_sctp(self, group: Sequence[steps.RequireSctp]) -> None:
        """IPVS takes a service of a protocol that it was built without, and then never looks at a packet of it."""
        lacking = self._ask(group[0], "lacking_for_sctp", tracked=group[0].tracked)["lacking"]
        if lacking:
            raise CannotRun(
                "this kernel cannot run SCTP services",
                found=f"no {lacking}",
                next_step="choose another kernel: --kernel uml, or one of your own (lvslab kernel build)",
            )

    def _make_namespaces(self, group: Sequence[steps.MakeNamespace]) -> None:
        names = [step.node for step in group]
        self._namespaces |= dict.fromkeys(names, -1)
        self._namespaces |= self._ask(group[0], "make_namespaces", names=names)["fds"]

    def _write_sysctls(self, group: Sequence[steps.WriteSysctl]) -> None:
        entries = [(step.node, step.key, step.value) for step in group]
        answer = self._ask(group[0], "write_sysctls", entries=entries)
        if answer["errno"]:
            raise refused(group[len(answer["values"])], _words(answer["errno"]))
        for step, value in zip(group, answer["values"], strict=True):
            if value.split() != step.value.split():
                raise refused(step, f"the kernel says {value} afterwards")

    def _checksum_offload_off(self, group: Sequence[steps.ChecksumOffloadOff]) -> None:
        interfaces = [(step.node, step.device) for step in group]
        self._ask(group[0], "transmit_checksum_off", interfaces=interfaces)

    def _receive_offload_off(self, group: Sequence[steps.ReceiveOffloadOff]) -> None:
        interfaces = [(step.node, step.device) for step in group]
        self._ask(group[0], "receive_offload_off", interfaces=interfaces)

    def _run_tools(self, group: Sequence[steps.ToolStep]) -> None:
        for step in group:
            argv = tool_call(step)
            log = Path(self._share) / f"tool-{step.node}.log"
            answer = self._ask(
                step, "run", node=step.node, argv=argv, environment={}, output=str(log), timeout_s=TOOL_TIMEOUT_S
            )
            if answer["status"] != 0:
                raise refused(step, " / ".join(log.read_text(errors="replace").split("\n")).strip(" /"))

    def _install_services(self, group: Sequence[steps.InstallService]) -> None:
        """Install each director's table and read it back: what the kernel has must be what was meant."""
        for node, of_node in groupby(group, key=lambda step: step.node):
            table = IpvsTable(self._transport, node)
            intended = [from_topology(step.service) for step in of_node]
            table.install(intended)
            differences = compare(intended, table.services())
            if differences:
                raise KernelFault("the kernel's IPVS table differs from the plan", where=node, found=differences[0])

    def _start_servers(self, group: Sequence[ServerStep]) -> None:
        for server in start_servers(self._channel, self._share, group):
            self._servers.append(server)

    def _send_messages(self, group: Sequence[steps.Step]) -> None:
        """Send the messages of each namespace together, switches first: cables are made there, and all else after."""
        by_namespace: dict[str, list[steps.Step]] = {}
        for step in group:
            by_namespace.setdefault(_namespace(step), []).append(step)
        errnos = self._transport.change((name, map(self._message, of_name)) for name, of_name in by_namespace.items())
        if errnos and errnos[-1]:
            step = list(chain.from_iterable(by_namespace.values()))[len(errnos) - 1]
            raise refused(step, _words(errnos[-1]))

    @singledispatchmethod
    def _message(self, step: steps.Step) -> bytes:
        raise TypeError(f"no message for {type(step).__name__}")

    @_message.register
    def _(self, step: steps.MakeBridge) -> bytes:
        index = self._new_index(step.node, BRIDGE)
        return rtnl.make_bridge(BRIDGE, index)

    @_message.register
    def _(self, step: steps.MakeLink) -> bytes:
        return rtnl.make_link(
            step.port,
            self._new_index(step.switch, step.port),
            bridge_index=self._index(step.switch, BRIDGE),
            interface=step.interface,
            index=self._new_index(step.node, step.interface),
            mac=step.mac,
            namespace_fd=self._namespaces[step.node],
        )

    @_message.register
    def _(self, step: steps.ShapeSending) -> bytes:
        index = self._index(step.node, step.device)
        return traffic_control.shape(index, step.shaping, step.queue_packets)

    @_message.register
    def _(self, step: steps.SetUp) -> bytes:
        return rtnl.set_up(step.device)

    @_message.register
    def _(self, step: steps.SetMtu) -> bytes:
        return rtnl.set_mtu(step.device, step.mtu)

    @_message.register
    def _(self, step: steps.AddAddress) -> bytes:
        index = self._index(step.node, step.device)
        return rtnl.add_address(index, step.address, deprecated=step.deprecated)

    @_message.register
    def _(self, step: steps.AddRoute) -> bytes:
        return rtnl.add_route(step.route)

    @_message.register
    def _(self, step: steps.AddNeighbour) -> bytes:
        index = self._index(step.node, step.device)
        return rtnl.add_neighbour(index, step.address, step.mac)

    def _new_index(self, namespace: str, device: str) -> int:
        taken = sum(1 for name, _ in self._indexes if name == namespace)
        self._indexes[namespace, device] = rtnl.FIRST_INDEX + taken
        return self._indexes[namespace, device]

    def _index(self, namespace: str, device: str) -> int:
        if device == "lo":
            return rtnl.LOOPBACK_INDEX
        if (namespace, device) not in self._indexes:
            numbers = {name: number for (_, number), name in self.device_names([namespace]).items()}
            self._indexes[namespace, device] = numbers.get(device, 0)
        return self._indexes[namespace, device]

    def device_names(self, namespaces: Sequence[str]) -> dict[tuple[str, int], str]:
        """Ask the kernel for all devices: name by (namespace, interface number)."""
        requests = [(Target(namespace, NETLINK_ROUTE), rtnl.dump_links()) for namespace in namespaces]
        replies = self._transport.send(requests, keep_going=True)
        return {
            (namespace, number): name
            for namespace, reply in zip(namespaces, replies, strict=True)
            for number, name in rtnl.decode_links(reply.payloads).items()
        }

    def _ask(self, step: steps.Step, operation: str, **fields: Any) -> dict[str, Any]:
        try:
            return self._channel.request(operation, **fields).fields
        except AgentError as error:
            raise refused(step, _words(error.errno) if error.errno else error.text) from error


def _namespace(step: Any) -> str:
    """Return where the message of a step goes: a cable is made at the switch, and its far end moved."""
    return str(step.switch if isinstance(step, steps.MakeLink) else step.node)


def refused(step: steps.Step, found: str) -> KernelFault:
    return KernelFault("the kernel refused a step of the plan", where=describe(step), found=found)


def _words(code: int) -> str:
    cause = f" ({CAUSES[code]})" if code in CAUSES else ""
    return f"{errno.errorcode.get(code, code)} {os.strerror(code)}{cause}"
