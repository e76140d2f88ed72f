"""A running network: built from a plan, captured, used, looked at and taken down."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lvslab.agent.wire import Message
from lvslab.errors import CannotRun, KernelFault
from lvslab.ipvs.table import IpvsTable
from lvslab.kernels.channel import AgentError
from lvslab.kernels.start import RunningKernel
from lvslab.plan.steps import MakeNamespace, Plan
from lvslab.sandbox.backends import NETNS, backend_class
from lvslab.sandbox.transport import NETLINK_ROUTE, NetlinkTransport, Target

RING_BUDGET_BYTES = 96 << 20
"""Memory for capture rings of one network, shared among its nodes."""
MIN_RING_BYTES = 128 << 10
MAX_RING_BYTES = 4 << 20
RUN_TIMEOUT_S = 30.0
MAX_SLEEP_S = 1e6
MAX_SLOWDOWN = 600
"""So many seconds may pass for each of virtual time: a gigabit per second takes minutes."""
CALL_STEP_TIMEOUT_S = 10.0
CALL_STEPS = 4
"""Connecting, asking, the answer, the end."""


@dataclass(frozen=True, slots=True)
class RawCapture:
    """A finished recording, still as the rings' blocks: see :func:`lvslab.capture.spool.read_spool`."""

    spool: Path
    nodes: tuple[str, ...]
    """In the order of the spool's node numbers."""
    interfaces: Mapping[tuple[str, int], str]
    """Device names by (node, interface number)."""
    drops: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ran in a node: exit status, and everything it printed."""

    status: int
    output: str


@dataclass(frozen=True, slots=True)
class Watch:
    """What is to be read while a call is made, and for how long."""

    node: str
    path: str
    period_s: float
    after_s: float
    """How long to go on when the call has ended."""
    until_lines: int | None = None
    """Go on until the file has no more than so many lines."""
    late_period_s: float = 1.0
    """The period from then on."""
    longest_s: float = 0.0
    """But no longer than so long after the call."""


@dataclass(frozen=True, slots=True)
class FileSpell:
    """One text of a file that was read again and again: see :mod:`lvslab.agent.watch`."""

    text: bytes
    first_end_ns: int
    last_begin_ns: int
    readings: int


@dataclass(frozen=True, slots=True)
class WatchedFile:
    spells: tuple[FileSpell, ...]
    longest_gap_ns: int


class Sandbox:
    """The network of one plan inside a running kernel."""

    def __init__(self, kernel: RunningKernel, plan: Plan, *, backend: str = NETNS) -> None:
        self._kernel = kernel
        self._channel = kernel.channel
        self._plan = plan
        self._backend = backend_class(backend)(kernel.channel, str(kernel.folder.share))
        self.nodes = tuple(step.node for step in plan.steps if isinstance(step, MakeNamespace))
        """All namespaces, those of switches included."""

    @property
    def backend(self) -> str:
        return self._backend.name

    @property
    def share(self) -> Path:
        """The folder that host and nodes both see."""
        return self._kernel.folder.share

    def build(self) -> None:
        """Apply the plan; on failure nothing of it is left. Raises KernelFault."""
        self._backend.apply(self._plan)

    def make_machines(self, files: Mapping[str, Mapping[str, str]]) -> None:
        """Give each node a hostname and files of its own (see :mod:`lvslab.sandbox.machines`)."""
        self._channel.request("make_machines", machines={name: dict(contents) for name, contents in files.items()})

    def remove(self) -> None:
        self._backend.remove()

    def ipvs(self, director: str) -> IpvsTable:
        return IpvsTable(NetlinkTransport(self._channel), director)

    def netlink(self, node: str, message: bytes) -> tuple[bytes, ...]:
        """Send one route netlink request to a node; return the kernel's answers. Raises KernelFault."""
        target = Target(node, NETLINK_ROUTE)
        reply = NetlinkTransport(self._channel).send([(target, message)], keep_going=True)[0]
        if reply.errno:
            raise KernelFault("the kernel refused a question", where=node, found=os.strerror(reply.errno))
        return reply.payloads

    def _new_file(self, kind: str) -> Path:
        """Name a file in the share as none was before: the guest may remember a removed one (hostfs)."""
        return self.share / f"{kind}-{secrets.token_hex(4)}"

    def start_capture(self, nodes: Sequence[str]) -> Path:
        """Record every interface of `nodes` from now on; return the spool file.

        Raises CannotRun if a recording is going on.
        """
        spool = self._new_file("spool")
        ring_bytes = max(MIN_RING_BYTES, min(MAX_RING_BYTES, RING_BUDGET_BYTES // len(nodes)))
        try:
            self._channel.request("start_capture", path=str(spool), rings=[(node, ring_bytes) for node in nodes])
        except AgentError as error:
            if error.errno != errno.EBUSY:
                raise
            raise CannotRun(
                "the lab is being recorded already", next_step="wait until the other verify or walk has ended"
            ) from error
        return spool

    def stop_capture(self, nodes: Sequence[str], spool: Path) -> RawCapture:
        """Stop recording; everything the rings still held is in the spool."""
        answer = self._channel.request("stop_capture")
        drops = {node: count for node, count in answer.fields["dropped"].items() if count}
        return RawCapture(spool, tuple(nodes), self._backend.device_names(nodes), drops)

    def read_files(self, files: Sequence[tuple[str, str]]) -> tuple[bytes, ...]:
        """Read (node, path) pairs as each node sees them: for tables under /proc/net."""
        return self._channel.request("read_files", files=list(files)).blobs

    def read_sysctls(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        """Read (node, key) pairs."""
        return list(self._channel.request("read_sysctls", entries=list(keys)).fields["values"])

    def call(
        self, node: str, calls: Sequence[Mapping[str, object]], questions: Sequence[bytes], timeout_s: float
    ) -> Message:
        """Run test calls from a node, one after another (see :mod:`lvslab.agent.clients`)."""
        longest_s = len(calls) * timeout_s + RUN_TIMEOUT_S
        return self._channel.request(
            "call", questions, wait_s=longest_s, node=node, calls=list(calls), timeout_s=timeout_s
        )

    def load(self, node: str, order: Mapping[str, object], question: bytes, seconds: float) -> Message:
        """Keep connections of a node busy for so many seconds of the kernel's (see :mod:`lvslab.agent.load`)."""
        longest_s = RUN_TIMEOUT_S + seconds * MAX_SLOWDOWN
        return self._channel.request("load", [question], wait_s=longest_s, node=node, **order)

    def watched_call(
        self, node: str, call: Mapping[str, object], question: bytes, ending: str, watch: Watch
    ) -> tuple[Message, WatchedFile]:
        """Make one test call from a node while a file of another node is read; return the answer and the readings.

        `ending` is who ends the call (see :mod:`lvslab.agent.one_call`). Raises KernelFault.
        """
        longest_s = watch.longest_s + CALL_STEP_TIMEOUT_S * CALL_STEPS
        answer = self._channel.request(
            "watched_call",
            (question,),
            wait_s=longest_s + RUN_TIMEOUT_S,
            node=node,
            calls=[call],
            ending=ending,
            timeout_s=CALL_STEP_TIMEOUT_S,
            watched=watch.node,
            path=watch.path,
            period_s=watch.period_s,
            after_s=watch.after_s,
            until=watch.until_lines,
            late_period_s=watch.late_period_s,
            longest_s=watch.longest_s,
        )
        spells = answer.fields["spells"]
        texts = answer.blobs[len(answer.blobs) - len(spells) :]
        found = tuple(FileSpell(text, *times) for text, times in zip(texts, spells, strict=True))
        return answer, WatchedFile(found, answer.fields["longest_gap_ns"])

    def share_folder(self, folder: Path) -> None:
        """Let nodes write to a folder of the host, at the same path; on the native kernel they may anyway."""
        self._channel.request("share_folder", path=str(folder))

    def sleep(self, seconds: float) -> float:
        """Let so much of the kernel's time pass; return what it then says the time is, in seconds since the epoch.

        Where time is virtual this is quick: some seconds for a day.
        """
        answer = self._channel.request("sleep", wait_s=MAX_SLEEP_S, seconds=seconds)
        return float(answer.fields["now"])

    def run(self, node: str, argv: Sequence[str], *, timeout_s: float = RUN_TIMEOUT_S) -> Finished:
        """Run a program in a node to its end. Raises KernelFault if it does not end in time."""
        output = self._new_file("output")
        answer = self._channel.request(
            "run",
            wait_s=timeout_s + RUN_TIMEOUT_S,
            node=node,
            argv=list(argv),
            environment={},
            output=str(output),
            timeout_s=timeout_s,
        )
        if answer.fields["timed_out"]:
            raise KernelFault(f"{argv[0]} did not end within {timeout_s:g} s", where=node)
        text = output.read_text(errors="replace")
        output.unlink()
        return Finished(answer.fields["status"], text)
