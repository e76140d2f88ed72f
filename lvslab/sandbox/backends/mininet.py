"""Applies a plan with Mininet: nodes, switches and cables are Mininet's, everything in them is as on `netns`.

A process inside the lab's kernel has the network (:mod:`lvslab.mininet.server`). The agent adopts the namespaces of
its nodes, so that captures, traffic and shells find them as they find its own. Switches are bridges in namespaces too:
nothing is made outside, so nothing but the process and its shells has to go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lvslab.errors import KernelFault
from lvslab.kernels.channel import AgentError, Channel
from lvslab.mininet import SERVER, SOCKET
from lvslab.mininet.install import need_mininet
from lvslab.plan import steps
from lvslab.sandbox.backends import MININET, MININET_OVS
from lvslab.sandbox.backends.netns import NetnsBackend, Phase, refused
from lvslab.topology.switches import BRIDGE

START_TIMEOUT_S = 60.0
SECONDS_PER_NODE = 10.0
"""Mininet starts a shell for each, and a guest may share its processor."""
LOG_LINES = 3


class MininetBackend(NetnsBackend):
    """One network being built by Mininet."""

    name = MININET
    switches = "bridge"
    """One of :data:`lvslab.mininet.server.SWITCHES`."""

    def __init__(self, channel: Channel, share: str) -> None:
        super().__init__(channel, share)
        self._log = Path(share) / "mininet.log"
        self._pid = 0
        self._plan = steps.Plan("", ())

    def apply(self, plan: steps.Plan) -> None:
        """As on netns. Raises CannotRun if Mininet is not installed."""
        self._plan = plan
        super().apply(plan)

    def remove(self) -> None:
        pid, self._pid = self._pid, 0
        if pid:
            # The kernel that had it may be gone.
            with suppress(KernelFault):
                self._ask_mininet(pid, "stop")
        super().remove()
        if pid:
            with suppress(KernelFault):
                self._channel.request("stop_process", pid=pid)

    def _phases(self) -> dict[type[steps.Step], Phase]:
        return super()._phases() | {steps.MakeBridge: self._pass_over, steps.MakeLink: self._make_links}

    def _pass_over(self, _group: Sequence[steps.MakeBridge]) -> None:
        """A switch's bridge is made with its cables."""

    def _make_namespaces(self, group: Sequence[steps.MakeNamespace]) -> None:
        self._pid = self._start()
        switches = {step.node for step in self._plan.steps if isinstance(step, steps.MakeBridge)}
        names = [step.node for step in group]
        answer = self._ask_mininet(
            self._pid,
            "add_nodes",
            hosts=[name for name in names if name not in switches],
            switches=[name for name in names if name in switches],
            kind=self.switches,
            bridge=BRIDGE,
        )
        self._namespaces |= dict.fromkeys(names, -1)
        self._namespaces |= self._ask(group[0], "adopt_namespaces", pids=answer["pids"])["fds"]

    def _make_links(self, group: Sequence[steps.MakeLink]) -> None:
        links = [
            {"node": step.node, "interface": step.interface, "mac": step.mac, "switch": step.switch, "port": step.port}
            for step in group
        ]
        try:
            self._ask_mininet(self._pid, "add_links", links=links, addresses=self._addresses(group))
        except KernelFault as error:
            raise refused(group[0], str(error.found)) from error
        numbers = self.device_names(list(self._namespaces))
        self._indexes |= {(namespace, name): number for (namespace, number), name in numbers.items()}

    def _addresses(self, links: Sequence[steps.MakeLink]) -> dict[str, dict[str, str]]:
        """Return the first address of each interface, by node: Mininet knows of one."""
        cards = {(step.node, step.interface) for step in links}
        found: dict[str, dict[str, str]] = {}
        for step in self._plan.steps:
            if isinstance(step, steps.AddAddress) and (step.node, step.device) in cards:
                found.setdefault(step.node, {}).setdefault(step.device, str(step.address))
        return found

    def _start(self) -> int:
        python = need_mininet().python
        answer = self._channel.request(
            "start_program",
            node="",
            argv=[python, "-I", "-B", str(SERVER), SOCKET],
            environment={},
            output=str(self._log),
            tcp_port=0,
            timeout_s=START_TIMEOUT_S,
        )
        return int(answer.fields["pid"])

    def _ask_mininet(self, pid: int, do: str, **fields: object) -> dict[str, Any]:
        """Have the network's process do something; return its answer. Raises KernelFault."""
        timeout_s = START_TIMEOUT_S + SECONDS_PER_NODE * len(self._plan.steps)
        line = json.dumps({"do": do, **fields}) + "\n"
        try:
            told = self._channel.request(
                "ask_program", wait_s=timeout_s, socket=SOCKET, pid=pid, line=line, timeout_s=timeout_s
            )
        except AgentError as error:
            raise self._fault(do, error.text) from error
        answer: dict[str, Any] = json.loads(told.fields["line"])
        if "error" in answer:
            raise self._fault(do, answer["error"])
        return answer

    def _fault(self, do: str, text: str) -> KernelFault:
        said = " / ".join(self._log.read_text(errors="replace").splitlines()[-LOG_LINES:]) if self._log.exists() else ""
        found = f"{text}: {said}" if said and text not in said else text
        return KernelFault(f"Mininet could not {do.replace('_', ' ')}", found=found, next_step="see lvslab doctor")


class OpenVSwitchBackend(MininetBackend):
    """The same with Open vSwitch for its switches."""

    name = MININET_OVS
    switches = "ovs"

    def _make_namespaces(self, group: Sequence[steps.MakeNamespace]) -> None:
        # A kernel that has it built in has no module of it.
        self._ask(group[0], "load_modules", names=["openvswitch"])
        super()._make_namespaces(group)
