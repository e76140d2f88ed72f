"""The public Python API: open a lab, use it, judge it. The commands do nothing that is not here.

with lvslab.open_lab("dr", real_servers=4) as lab:
    outcomes = lab.drive()
    result = lab.verify()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lvslab.errors import BadInput
from lvslab.kernels.choose import UP_TIMEOUT_S, boot, choose_kernel
from lvslab.kernels.start import RunningKernel
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.sandbox.backends import NETNS, need_backend

if TYPE_CHECKING:
    from lvslab.capture.frame import Capture
    from lvslab.ipvs.entries import Entry, Sees
    from lvslab.ipvs.model import Connection, Stats
    from lvslab.ipvs.table import IpvsTable
    from lvslab.ipvs.watched import WatchedTable
    from lvslab.plan.steps import Step
    from lvslab.sandbox.sandbox import Finished, Sandbox
    from lvslab.topology.model import Address, Node, Protocol, Topology, VirtualService
    from lvslab.traffic.load import Throughput
    from lvslab.traffic.outcome import Outcome
    from lvslab.traffic.watched import Ending
    from lvslab.verify.evidence import DirectorTable, Evidence, NodeFacts
    from lvslab.verify.result import TopologyResult
    from lvslab.walk.model import Walks
    from lvslab.walk.timeline import Event

CONNECTION_TABLE = "/proc/net/ip_vs_conn"
SYNC_TABLE = "/proc/net/ip_vs_conn_sync"
SETTLING_S = 0.03
SETTLING_READINGS = 5
Phase = Callable[[str], AbstractContextManager[object]]
"""Told what is going on: called with a few words, entered while it lasts."""


def quiet(_text: str) -> AbstractContextManager[object]:
    return nullcontext()


@dataclass(slots=True)
class Recording:
    """Filled in when the recording ends."""

    capture: Capture | None = None

    def finished(self) -> Capture:
        if self.capture is None:
            raise RuntimeError("the recording has not ended")
        return self.capture


class LabNode:
    """One node of a running lab."""

    def __init__(self, sandbox: Sandbox, node: Node) -> None:
        self._sandbox = sandbox
        self.node = node

    @property
    def name(self) -> str:
        return self.node.name

    def run(self, *argv: str, timeout_s: float = 30.0) -> Finished:
        """Run a program in the node to its end. Raises KernelFault."""
        if not argv:
            raise BadInput("no program to run", where=self.name)
        return self._sandbox.run(self.name, argv, timeout_s=timeout_s)

    def read_sysctl(self, key: str) -> str:
        return self._sandbox.read_sysctls([(self.name, key)])[0]

    def get(self, address: str, port: int = 80, *, times: int = 1, first_port: int = 0) -> tuple[Outcome, ...]:
        """Fetch http://address:port/ so many times, one after another. Ports and errors are those of `call`."""
        return self.call(address, port, times=times, first_port=first_port)

    def call(
        self, address: str, port: int, protocol: Protocol | None = None, *, times: int = 1, first_port: int = 0
    ) -> tuple[Outcome, ...]:
        """Call a server so many times, one after another, from `first_port` upwards (0: any port).

        Over TCP (the default) that is HTTP, over UDP and SCTP a question to an echo server. Raises BadInput if the
        node has no address of that family, or for ports beyond 65535.
        """
        from lvslab.topology.limits import PORT
        from lvslab.topology.model import Protocol
        from lvslab.traffic.calls import TARGETS, make_calls

        target = ip_address(address)
        source = self._source_towards(target)
        if port not in PORT:
            raise BadInput("no such port", where=self.name, expected=str(PORT), found=str(port))
        if not 0 <= first_port <= first_port + max(times, 1) - 1 <= PORT.high:
            expected, found = f"at most {PORT.high} for the last of {times}", f"{first_port} for the first"
            raise BadInput("no such source port", where=self.name, expected=expected, found=found)
        ports = range(first_port, first_port + times) if first_port else [0] * times
        make_target = TARGETS[protocol or Protocol.TCP]
        return make_calls(self._sandbox, self.name, [make_target(source, own, target, port) for own in ports])

    def get_each(self, addresses: Sequence[str], port: int = 80) -> tuple[Outcome, ...]:
        """Fetch http://address:port/ from each address, one after another. Raises BadInput as `get` does."""
        from lvslab.traffic.calls import http_target, make_calls

        targets = [ip_address(address) for address in addresses]
        sources = [self._source_towards(target) for target in targets]
        calls = [http_target(source, 0, target, port) for source, target in zip(sources, targets, strict=True)]
        return make_calls(self._sandbox, self.name, calls)

    def look_up(self, name: str, server: str, *, times: int = 1) -> tuple[str, ...]:
        """Ask a name server so many times for a name; return the first address of each answer, as most programs use.

        Raises KernelFault if an answer does not come.
        """
        from lvslab.errors import KernelFault
        from lvslab.traffic import dns

        target = ip_address(server)
        asked = dns.ask(self._sandbox, self.name, self._source_towards(target), target, [name] * times, over_tcp=False)
        answers = [dns.decode(outcome.answer, over_tcp=False) for outcome in asked]
        if not all(answers):
            raise KernelFault("a look-up failed", where=self.name, expected=f"addresses of {name} from {server}")
        return tuple(answer.addresses[0] for answer in answers if answer is not None)

    def load(
        self,
        address: str,
        port: int = 80,
        *,
        connections: int,
        seconds: float,
        warm_up_s: float = 0.0,
        answer_bytes: int | None = None,
    ) -> Throughput:
        """Fetch over so many connections at once, for `seconds` of the kernel's time, and count after `warm_up_s`.

        A connection whose answer of `answer_bytes` has ended (default: a gigabyte) begins another. The servers must
        be lvslab's own. Raises BadInput if the node has no address of that family, or if nothing would be counted.
        """
        from lvslab.traffic.load import DEFAULT_ANSWER_BYTES, run_load

        if connections < 1 or not 0 <= warm_up_s < seconds:
            raise BadInput("nothing to measure", where=self.name, expected="a connection, and time after the warm-up")
        target = ip_address(address)
        return run_load(
            self._sandbox,
            self.name,
            self._source_towards(target),
            target,
            port,
            connections=connections,
            seconds=seconds,
            warm_up_s=warm_up_s,
            answer_bytes=DEFAULT_ANSWER_BYTES if answer_bytes is None else answer_bytes,
        )

    def _source_towards(self, target: Address) -> Address:
        """Return the node's own address of the family of `target`."""
        source = next((own for own in self.node.own_addresses if own.version == target.version), None)
        if source is None:
            raise BadInput(f"no IPv{target.version} address to call {target} from", where=self.name)
        return source


class Lab:
    """A topology running in a kernel."""

    def __init__(self, topology: Topology, kernel: RunningKernel, sandbox: Sandbox, *, shared: bool = False) -> None:
        """`shared`: others may use and change the lab at the same time, and may have before."""
        self.topology = topology
        self._shared = shared
        self._driven = False
        self.kernel = kernel.kind
        self.kernel_release = kernel.release
        self.virtual_time = kernel.virtual_time
        self._sandbox = sandbox
        self.nodes: Mapping[str, LabNode] = {node.name: LabNode(sandbox, node) for node in topology.nodes}

    @property
    def backend(self) -> str:
        return self._sandbox.backend

    def node(self, name: str) -> LabNode:
        from lvslab.topology.wording import did_you_mean, one_of

        if name not in self.nodes:
            raise BadInput(
                "no such node",
                where=self.topology.name,
                expected=one_of(self.nodes),
                found=str(name),
                next_step=did_you_mean(str(name), self.nodes),
            )
        return self.nodes[name]

    def ipvs(self, director: str) -> IpvsTable:
        return self._sandbox.ipvs(director)

    def connections(self, director: str) -> tuple[Connection, ...]:
        """Read a director's connection table as it is now, templates among the entries."""
        from lvslab.ipvs.proc import connections

        (text,) = self._sandbox.read_files([(director, CONNECTION_TABLE)])
        return connections(text.decode())

    @contextmanager
    def record(self) -> Iterator[Recording]:
        """Capture every interface of every node while the body runs; the capture is there afterwards.

        Raises CannotRun if somebody else is recording in this lab.
        """
        with self._record(_Clock({})) as recording:
            yield recording

    @contextmanager
    def _record(self, clock: _Clock) -> Iterator[Recording]:
        """As `record`; what it takes to begin and end the capture and to read it is added to `clock`."""
        from lvslab.capture.spool import read_spool

        recording = Recording()
        nodes = tuple(self.nodes)
        with clock("capture"):
            spool = self._sandbox.start_capture(nodes)
        try:
            try:
                yield recording
            finally:
                # Whatever ended the body: the capture may show why.
                with clock("capture"):
                    raw = self._sandbox.stop_capture(nodes, spool)
                    recording.capture = replace(
                        read_spool(raw.spool, raw.nodes, raw.interfaces, raw.drops), comment=self.topology.rendered
                    )
        finally:
            spool.unlink(missing_ok=True)

    def sleep(self, seconds: float) -> float:
        """Let so much of the kernel's time pass; return its time then, in seconds since the epoch."""
        return self._sandbox.sleep(seconds)

    def now(self) -> float:
        """Return the kernel's time, in seconds since the epoch."""
        return self._sandbox.sleep(0)

    def only_service(self, vip: str) -> Lab:
        """Return the same running lab with nothing in it to drive and judge but the services of one VIP."""
        kept = tuple(service for service in self.topology.services if str(service.vip) == vip)
        if not kept:
            raise BadInput("no service at this address", where=self.topology.name, found=vip)
        narrowed = copy(self)
        narrowed.topology = replace(self.topology, services=kept)
        return narrowed

    def unused_ports(self, client: str, count: int) -> range:
        """Return ports in a row that no director remembers: calls from them are scheduled. Raises CannotRun."""
        from lvslab.sandbox.ports import remembered_ports
        from lvslab.traffic.ports import free_ports

        return free_ports(count, remembered_ports(self._sandbox, [client], self.directors))

    def drive(self) -> tuple[Outcome, ...]:
        """Send the topology's standard traffic, as if there had been none before.

        The VIPs are asked for by ARP again, calls come from ports that no director remembers, and where packets may be
        too large for their way nobody knows of it.
        """
        from lvslab.sandbox.ports import remembered_ports
        from lvslab.traffic.drive import callers, drive

        if self._shared or self._driven:
            self._forget_path_mtus()
        self._driven = True
        self.forget_vips()
        taken = remembered_ports(self._sandbox, callers(self.topology), self.directors)
        return drive(self._sandbox, self.topology, taken)

    def watch_connection(
        self, service: VirtualService, ending: Ending | None = None, *, until_gone: bool = False
    ) -> WatchedConnection:
        """Make one connection to a service while its director's table is read again and again.

        Its packets pass one by one only where the cables are slow (:mod:`lvslab.traffic.pacing`). `ending` is by the
        server unless said otherwise; `until_gone` goes on until the director has forgotten all connections.
        """
        from lvslab.sandbox.ports import remembered_ports
        from lvslab.traffic.drive import callers
        from lvslab.traffic.watched import Ending, watched_call
        from lvslab.walk.timeline import timeline_of_call

        self._driven = True
        taken = remembered_ports(self._sandbox, callers(self.topology), self.directors)
        chosen = ending or Ending.SERVER
        with self.record() as recording:
            call = watched_call(self._sandbox, self.topology, service, chosen, taken, until_gone=until_gone)
        capture = recording.finished()
        walks = self.walks(capture)
        events = timeline_of_call(walks, service, str(call.client), call.outcome.client_port, call.table)
        return WatchedConnection(service, capture, walks, call.client, call.outcome, call.table, events)

    def known_entries(self, director: str) -> tuple[Entry, ...]:
        """Read a director's connection table with what its other tables tell of each entry."""
        from lvslab.ipvs.entries import known_entries
        from lvslab.ipvs.proc import connections, origins

        texts = self._sandbox.read_files([(director, CONNECTION_TABLE), (director, SYNC_TABLE)])
        table, synchronised = (text.decode() for text in texts)
        return known_entries(connections(table), self.ipvs(director).services(), origins(synchronised))

    def forget_vips(self) -> None:
        """Make whoever sends to a VIP ask for it by ARP again."""
        from lvslab.sandbox.neighbours import forget_neighbour
        from lvslab.topology.vips import vip_askers

        for vip in dict.fromkeys(service.vip for service in self.topology.services):
            forget_neighbour(self._sandbox, vip_askers(self.topology, vip), vip)

    def _forget_path_mtus(self) -> None:
        """Flush what nodes were told of path MTUs (ip-route(8)); they would keep it for ten minutes."""
        from lvslab.verify.expectations.path_mtu import applies

        for name in self.nodes if applies(self.topology) else ():
            self._sandbox.run(name, ("ip", "route", "flush", "cache"))

    def walks(self, capture: Capture) -> Walks:
        """Join the frames of a capture of this lab; addresses are named after their roles."""
        from lvslab.walk import find_walks

        return find_walks(capture, labels=address_labels(self.topology))

    def verify(self, *, phase: Phase = quiet, seconds: dict[str, float] | None = None) -> TopologyResult:
        """Send the standard traffic, capture it, and judge every expectation."""
        return self.examine(phase=phase, seconds=seconds).result

    def examine(self, *, phase: Phase = quiet, seconds: dict[str, float] | None = None) -> Examination:
        """As `verify`, and keep the evidence."""
        from lvslab.verify.evidence import Evidence
        from lvslab.verify.judge import judge
        from lvslab.verify.result import TopologyResult, Verdict

        clock = _Clock(seconds or {})
        used = self._shared or self._driven
        with phase(f"{self.topology.name}: traffic"):
            with self._record(clock) as recording, clock("traffic"):
                earlier = self.director_totals()
                outcomes = self.drive()
                # What others send after the recording is not to be counted.
                totals = self._settled_totals() if self._shared else None
            with clock("traffic"):
                tables = self._director_tables(earlier, totals or self.director_totals())
        capture = recording.finished()
        with phase(f"{self.topology.name}: judge"):
            with clock("join"):
                walks = self.walks(capture)
            with clock("judge"):
                evidence = Evidence(self.topology, capture, walks, outcomes, tables, used=used)
                results = judge(evidence)
                if any(result.verdict is Verdict.FAIL for result in results):
                    evidence = self._with_facts(evidence)
                    results = judge(evidence)
        result = TopologyResult(
            topology=self.topology.name,
            kernel=self.kernel,
            kernel_release=self.kernel_release,
            virtual_time=self.virtual_time,
            backend=self.backend,
            expectations=results,
            params=dict(self.topology.params),
            seconds=clock.seconds,
            frames=len(capture.frames),
        )
        return Examination(result, evidence)

    @property
    def directors(self) -> list[str]:
        """The nodes that have virtual services."""
        return sorted({service.director for service in self.topology.services})

    def director_totals(self) -> dict[str, Stats]:
        """Return what each director has counted since its namespace was made, all its services together."""
        from lvslab.ipvs.proc import totals

        directors = self.directors
        texts = self._sandbox.read_files([(director, "/proc/net/ip_vs_stats_percpu") for director in directors])
        return {director: totals(text.decode()) for director, text in zip(directors, texts, strict=True)}

    def _settled_totals(self) -> dict[str, Stats]:
        """Return the totals with the last packets of the drive counted: once they stand still, unless others send."""
        totals = self.director_totals()
        for _ in range(SETTLING_READINGS):
            time.sleep(SETTLING_S)
            before, totals = totals, self.director_totals()
            if totals == before:
                break
        return totals

    def _director_tables(self, earlier: Mapping[str, Stats], totals: Mapping[str, Stats]) -> dict[str, DirectorTable]:
        from lvslab.verify.evidence import DirectorTable

        return {
            director: DirectorTable(
                self.ipvs(director).services(), totals[director], earlier[director], self.connections(director)
            )
            for director in totals
        }

    def facts(self, name: str) -> NodeFacts:
        """Return what a node's kernel says of itself now, listeners included. Raises KernelFault."""
        from lvslab.sandbox.facts import read_facts
        from lvslab.topology.model import Protocol
        from lvslab.verify.evidence import NodeFacts

        sctp = any(service.protocol is Protocol.SCTP for service in self.topology.services)
        raw = read_facts(self._sandbox, name, sctp=sctp)
        return NodeFacts(raw.addresses, raw.up, raw.gateways, raw.sysctls, raw.listening, raw.counters)

    def _with_facts(self, evidence: Evidence) -> Evidence:
        return replace(evidence, facts={name: self.facts(name) for name in self.nodes})


@dataclass(frozen=True, slots=True)
class WatchedConnection:
    """One connection at its director: its packets, and what became of its entry between them."""

    service: VirtualService
    capture: Capture
    walks: Walks
    client: Address
    outcome: Outcome
    table: WatchedTable
    events: tuple[Event, ...]

    @property
    def sees(self) -> Sees:
        """What of the connection passed the director."""
        from lvslab.ipvs.entries import Sees
        from lvslab.walk.timeline import Passing

        replies = (each for each in self.events if isinstance(each, Passing) and each.is_reply and not each.is_error)
        return Sees.BOTH if any(replies) else Sees.CLIENT


@dataclass(frozen=True, slots=True)
class Examination:
    """A verdict and what it rests on."""

    result: TopologyResult
    evidence: Evidence


@contextmanager
def open_lab(
    topology: str | Path | Topology,
    *,
    kernel: str | None = None,
    backend: str = NETNS,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    virtual_time: bool = False,
    without: Sequence[str] = (),
    **params: Any,
) -> Iterator[Lab]:
    """Run a topology until the body ends: a shipped name, a file, or a model built in code.

    `kernel` is `native` or `uml` (default: what the machine can do), `backend` what builds the network (`netns` or
    `mininet`), `params` are the topology's own parameters.
    With virtual time sleeping costs nothing, and the same lab repeats exactly (docs/virtual-time.md).
    Raises BadInput for a bad topology, CannotRun if this machine cannot run it, KernelFault if the kernel fails.
    """
    need_backend(backend)
    with open_kernel(kernel, memory_mib=memory_mib, virtual_time=virtual_time) as running:
        model = _model(topology, params, without)
        running.wait_until_up(UP_TIMEOUT_S)
        with running_lab(running, model, backend=backend) as lab:
            yield lab


@contextmanager
def open_kernel(
    kind: str | None = None,
    *,
    name: str = "lab",
    memory_mib: int = DEFAULT_MEMORY_MIB,
    virtual_time: bool = False,
) -> Iterator[RunningKernel]:
    """Start a kernel and end it when the body ends. It may still be booting: see `RunningKernel.wait_until_up`."""
    chosen = choose_kernel(kind, virtual_time=virtual_time)
    running = boot(chosen, name, memory_mib=memory_mib, virtual_time=virtual_time)
    try:
        yield running
    finally:
        running.close()


@contextmanager
def running_lab(
    kernel: RunningKernel, topology: Topology, *, backend: str = NETNS, further: Sequence[Step] = ()
) -> Iterator[Lab]:
    """Build a topology in a kernel that is up, and take it down when the body ends.

    `further` steps come after the topology's own, and go with it.
    """
    from lvslab.plan import make_plan
    from lvslab.sandbox.sandbox import Sandbox

    plan = make_plan(topology)
    sandbox = Sandbox(kernel, replace(plan, steps=(*plan.steps, *further)), backend=backend)
    sandbox.build()
    try:
        yield Lab(topology, kernel, sandbox)
    finally:
        sandbox.remove()


def verify(
    topologies: Sequence[str | Path | Topology],
    *,
    kernel: str | None = None,
    backend: str = NETNS,
    params: Mapping[str, object] | None = None,
    without: Sequence[str] = (),
    phase: Phase = quiet,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    virtual_time: bool = False,
) -> tuple[Examination, ...]:
    """Build, drive and judge topologies one after another in one kernel; return them in order.

    Raises as `open_lab`.
    """
    begun = time.monotonic()
    examinations = []
    need_backend(backend)
    with ExitStack() as stack:
        running = stack.enter_context(
            open_kernel(kernel, name="verify", memory_mib=memory_mib, virtual_time=virtual_time)
        )
        models = [_model(topology, params or {}, without) for topology in topologies]
        with phase("boot"):
            _import_while_booting()
            running.wait_until_up(UP_TIMEOUT_S)
        clock = _Clock({"boot": time.monotonic() - begun})
        for model in models:
            examinations.append(_examine_one(running, model, backend, phase, clock))
            clock = _Clock({"boot": 0.0})
        _take_down(stack, examinations[-1:])
    return tuple(examinations)


def verify_on_each(
    kernels: Sequence[str | None],
    topologies: Sequence[str | Path | Topology],
    *,
    virtual_time: bool = False,
    **options: Any,
) -> tuple[Examination, ...]:
    """Verify the topologies on one kernel after another; return each topology's results side by side.

    `options` are those of `verify`, and it raises as that does, before anything is run if a kernel is not there.
    """
    chosen = list(dict.fromkeys(choose_kernel(kernel, virtual_time=virtual_time) for kernel in kernels))
    on_each = [verify(topologies, kernel=kernel, virtual_time=virtual_time, **options) for kernel in chosen]
    return tuple(chain.from_iterable(zip(*on_each, strict=True)))


def _examine_one(kernel: RunningKernel, topology: Topology, backend: str, phase: Phase, clock: _Clock) -> Examination:
    with ExitStack() as stack:
        with phase(f"{topology.name}: build"), clock("build"):
            lab = stack.enter_context(running_lab(kernel, topology, backend=backend))
        examination = lab.examine(phase=phase, seconds=clock.seconds)
        _take_down(stack, [examination])
        return examination


def _take_down(stack: ExitStack, examinations: Sequence[Examination]) -> None:
    """End what is up; the examinations' results say how long that took."""
    begun = time.monotonic()
    stack.close()
    for examination in examinations:
        seconds = examination.result.seconds
        seconds["teardown"] = seconds.get("teardown", 0.0) + time.monotonic() - begun


def _import_while_booting() -> None:
    """Load what takes longest while the kernel comes up beside it."""
    import lvslab.sandbox.facts
    import lvslab.sandbox.sandbox
    import lvslab.verify.judge  # noqa: F401


def _model(topology: str | Path | Topology, params: Mapping[str, object], without: Sequence[str]) -> Topology:
    from lvslab.topology import load_topology
    from lvslab.topology.model import Topology

    if isinstance(topology, Topology):
        return topology
    removed = (without,) if isinstance(without, str) else without
    return load_topology(topology, params=params, without=removed)


def address_labels(topology: Topology) -> dict[str, str]:
    """Return what to call each address: VIP, and the node for its own (RIP, DIP, CIP)."""
    labels = {str(address): node.name for node in topology.nodes for address in node.own_addresses}
    labels |= {str(service.vip): "VIP" for service in topology.services}
    return labels


def name_records(topology: Topology) -> dict[Address, str]:
    """Return the labels by address, for the names that Wireshark shows."""
    return {ip_address(text): label for text, label in address_labels(topology).items()}


def shipped_topologies() -> tuple[str, ...]:
    """Return the names of the topologies that come with lvslab."""
    from lvslab.topology import shipped

    return shipped()


def topology_of(capture: Capture) -> Topology | None:
    """Return the topology whose description a capture carries, or None if it carries none."""
    from lvslab.topology import load_text

    if not capture.comment:
        return None
    try:
        return load_text(capture.comment, "the capture's comment")
    except BadInput:
        return None


def examine_stored(path: Path, topology: str | Path | Topology | None = None) -> Examination:
    """Judge a stored capture, without a kernel: what needs the director's counters is skipped.

    The topology is the one the file carries unless another is given. Raises BadInput.
    """
    from lvslab.capture.pcapng import read_capture
    from lvslab.verify.evidence import Evidence
    from lvslab.verify.judge import judge
    from lvslab.verify.result import TopologyResult
    from lvslab.walk import find_walks

    capture = read_capture(path)
    carried = topology_of(capture)
    model = carried if topology is None else _model(topology, {}, ())
    if model is None:
        raise BadInput(
            "the capture does not say which topology it is of",
            where=str(path),
            expected="a capture kept by lvslab verify --pcap",
            next_step="name the topology as well",
        )
    if carried is not None and carried.name != model.name:
        raise BadInput("the capture is of another topology", where=str(path), expected=model.name, found=carried.name)
    evidence = Evidence(model, capture, find_walks(capture, labels=address_labels(model)))
    result = TopologyResult(
        topology=model.name,
        kernel="stored",
        kernel_release="",
        backend="capture",
        expectations=judge(evidence),
        params=dict(model.params),
        frames=len(capture.frames),
    )
    return Examination(result, evidence)


class _Clock:
    """Adds up seconds by phase."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = dict(seconds)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begun
