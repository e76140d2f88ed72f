"""Starts what answers in the nodes: the built-in servers together inside the agent, real programs one process each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lvslab.agent import ftp_server
from lvslab.errors import KernelFault
from lvslab.kernels.channel import AgentError, Channel
from lvslab.plan import programs
from lvslab.plan.describe import describe
from lvslab.plan.steps import StartNameServer, StartResolver, StartServer
from lvslab.topology.model import Application

ServerStep = StartServer | StartNameServer | StartResolver
READY_TIMEOUT_S = 15.0
ANY_ADDRESS = {4: "0.0.0.0", 6: "::"}  # noqa: S104 - inside a node of the lab
LOG_LINES = 3


@dataclass(frozen=True, slots=True)
class Running:
    """Something that was started: the agent's operation that stops it, and its number there."""

    stop_operation: str
    key: str
    number: int

    def stop(self, channel: Channel) -> None:
        fields: dict[str, Any] = {self.key: self.number}
        channel.request(self.stop_operation, **fields)


def start_servers(channel: Channel, share: str, group: Sequence[ServerStep]) -> Iterator[Running]:
    """Start all servers of `group`, yielding each as it runs. Raises KernelFault."""
    builtin = [step for step in group if isinstance(step, StartServer) and _in_agent(step)]
    if builtin:
        yield _start_builtin(channel, builtin)
    for step in group:
        if isinstance(step, StartNameServer):
            yield _start_name_server(channel, step)
            continue
        call = _program(step, share)
        if call is not None:
            yield _start_program(channel, share, step, call)


def _in_agent(step: StartServer) -> bool:
    """A session of FTP is too much of a dialogue for the agent's event loop."""
    return step.program == "builtin" and step.kind != Application.FTP


def _start_builtin(channel: Channel, group: Sequence[StartServer]) -> Running:
    listeners = [
        {
            "node": step.node,
            "kind": step.kind,
            "address": ANY_ADDRESS[step.family] if step.address is None else str(step.address),
            "port": step.port,
            "answer_bytes": step.answer_bytes,
        }
        for step in group
    ]
    try:
        number = channel.request("start_servers", listeners=listeners).fields["group"]
    except AgentError as error:
        raise KernelFault("the built-in servers could not be started", found=error.text) from error
    return Running("stop_servers", "group", number)


def _start_name_server(channel: Channel, step: StartNameServer) -> Running:
    """The built-in one: dnsmasq answers each TCP question from a child process, and so would not rotate there."""
    from lvslab.sandbox.name_records import question_and_records

    blobs = question_and_records(step.service)
    try:
        answer = channel.request("start_name_server", blobs, node=step.node, address=ANY_ADDRESS[4])
    except AgentError as error:
        raise KernelFault("the name server could not be started", where=step.node, found=error.text) from error
    return Running("stop_servers", "group", answer.fields["group"])


def _program(step: ServerStep, share: str) -> programs.ProgramCall | None:
    match step:
        case StartResolver(upstream=upstream):
            return programs.resolver(upstream)
        case StartServer(kind=Application.FTP):
            return programs.ftp_server(sys.executable, ftp_server.__file__, step.node, step.port)
        case StartServer(program="nginx"):
            return _nginx(step, share)
    return None


def _nginx(step: StartServer, share: str) -> programs.ProgramCall:
    folder = Path(share) / f"nginx-{step.node}-{step.port}-{step.family}"
    folder.mkdir(exist_ok=True)
    configuration = folder / "nginx.conf"
    listen = f"[::]:{step.port} ipv6only=on" if step.family == 6 else str(step.port)
    configuration.write_text(programs.nginx_configuration(step.node, listen, str(folder), step.answer_bytes))
    return programs.nginx(str(configuration), step.port)


def _start_program(channel: Channel, share: str, step: ServerStep, call: programs.ProgramCall) -> Running:
    log = Path(share) / f"{call.argv[0]}-{step.node}.log"
    try:
        answer = channel.request(
            "start_program",
            node=step.node,
            argv=call.argv,
            environment={},
            output=str(log),
            tcp_port=call.tcp_port,
            timeout_s=READY_TIMEOUT_S,
        )
    except AgentError as error:
        said = " / ".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:]) if log.exists() else ""
        raise KernelFault(
            f"{call.argv[0]} could not be started",
            where=describe(step),
            found=f"{error.text}: {said}" if said else error.text,
            next_step=f"is the Debian package with {call.argv[0]} installed? (lvslab doctor)",
        ) from error
    return Running("stop_process", "pid", answer.fields["pid"])
