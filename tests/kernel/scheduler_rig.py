"""A service in a real kernel and its reference model, side by side: both are told the same, and must choose the same.

The client's side of each connection is put on the wire frame by frame, from addresses nobody holds, so that thousands
of connections from thousands of addresses can be held, closed and expired at will. Forwarding is DR, in which the
director sees nothing but that side. Which server got a connection is read from the table of connections.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from lvslab.capture import sctp
from lvslab.capture.checksum import word_sum
from lvslab.capture.crc32c import crc32c
from lvslab.ipvs import proc
from lvslab.ipvs.codes import PROTOCOL
from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, FwmarkKey, Service, ServiceKey, Timeouts
from lvslab.ipvs.schedulers import Reading
from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.model import Flow, Server
from lvslab.ipvs.schedulers.service import Counted, ServiceModel
from lvslab.ipvs.table import IpvsTable
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.topology import load_text
from lvslab.topology.model import Address, Method, Protocol, Role
from lvslab.traffic.calls import Target, make_calls
from lvslab.verify.activity import active_at_once
from tests.kernel.support import lab_in

SERVERS: Final = 7
TOPOLOGY: Final = """
name: schedulers
networks: {net: [198.18.0.0/24, "2001:db8::/64"]}
nodes:
  client: {role: client, on: {net: 10}}
  director: {role: director, on: {net: 1}}
  rs[1-SERVERS]: {role: real-server, on: {net: 11+}}
"""
VIPS: Final = {Family.IPV4: "203.0.113", Family.IPV6: "2001:db8:9:"}
MARKED_VIPS: Final = 6
"""Different destination addresses of a service by firewall mark."""
LONG: Final = Timeouts(tcp_s=86400, tcp_fin_s=86400, udp_s=86400)
FIRST_PORT: Final = 1024
"""Connections from port 20 would not be scheduled (ip_vs_core.c: ip_vs_schedule, FTPDATA)."""
SOURCES: Final = {Family.IPV4: ip_address("198.51.100.9"), Family.IPV6: ip_address("2001:db8:77::9")}
NOBODY: Final = "nobody"
SHORT: Final = Timeouts(tcp_s=1, tcp_fin_s=1, udp_s=1)
MARKER_VIP: Final = ip_address("192.0.2.254")
"""In no network whose packets get a firewall mark: that would come first (ip_vs_ctl.c: ip_vs_service_find)."""
MARKER: Final = Service(AddressKey(Protocol.TCP, MARKER_VIP, 80), "rr")
FLAG_BITS: Final = {"S": 0x02, "A": 0x10, "F": 0x01}
CHUNKS: Final = {
    "S": struct.pack("!BBHIIHHI", sctp.INIT, 0, 20, 1, 65535, 1, 1, 1),
    "A": struct.pack("!BBH4s", sctp.COOKIE_ECHO, 0, 8, b"bisc"),
    "FA": struct.pack("!BBH", sctp.SHUTDOWN_ACK, 0, 4),
}
"""What a client sends over SCTP where it would send these flags over TCP."""
SENDER_PORT: Final = 7777
SENDER = f"""
import socket, struct
line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
line.bind(("eth0", 0))
orders = socket.create_server(("127.0.0.1", {SENDER_PORT}))
while True:
    order, _ = orders.accept()
    data = open(order.recv(4096).decode(), "rb").read()
    position = 0
    while position < len(data):
        size = struct.unpack_from("!H", data, position)[0]
        line.send(data[position + 2 : position + 2 + size])
        position += 2 + size
    order.sendall(b"sent")
    order.close()
"""
"""Stays in the client's node, since a start of Python is dear in a guest: frames from files, named one per call."""


@dataclass(slots=True)
class Held:
    """A connection that the director has an entry of."""

    flow: Flow
    protocol: Protocol
    counted: Counted

    @property
    def key(self) -> tuple[Address, int, Address]:
        return self.flow.source, self.flow.source_port, self.flow.destination


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A connection that the kernel gave to another server than the model."""

    number: int
    predicted: str
    chosen: str
    reason: str


class Wire:
    """The client's side of connections, collected and then sent at once."""

    def __init__(self, lab: Lab, share: Path) -> None:
        self._sandbox = lab._sandbox
        self._share = share
        (director,) = lab.node("director").node.interfaces
        (client,) = lab.node("client").node.interfaces
        self._macs = bytes.fromhex((director.mac + client.mac).replace(":", ""))
        self._frames: list[bytes] = []
        self._sent = 0
        program = share / "sender.py"
        program.write_text(SENDER)
        started = lab.node("client").run("sh", "-c", f"python3 -I -S {program} </dev/null >/dev/null 2>&1 &")
        assert started.status == 0, started.output

    def put(self, flow: Flow, protocol: Protocol, flags: str = "") -> None:
        """Collect one packet of a connection; `flags` are TCP's, and stand for chunks of SCTP's."""
        kind = b"\x08\x00" if flow.source.version == 4 else b"\x86\xdd"
        frame = self._macs + kind + ip_packet(flow, protocol, flags)
        self._frames.append(len(frame).to_bytes(2, "big") + frame)

    def send(self) -> None:
        self._sent += 1
        batch = self._share / f"frames-{self._sent}"
        batch.write_bytes(b"".join(self._frames))
        self._frames.clear()
        order = Target("stream", "127.0.0.1", 0, "127.0.0.1", SENDER_PORT, str(batch).encode())
        while (outcome := make_calls(self._sandbox, "client", [order], timeout_s=60)[0]).status == "ECONNREFUSED":
            assert self._sent == 1, "the sender is gone"
        assert (outcome.status, outcome.answer) == ("ok", b"sent")
        batch.unlink()


def ip_packet(flow: Flow, protocol: Protocol, flags: str) -> bytes:
    """Return one packet of a connection's client, complete with checksums."""
    number = PROTOCOL[protocol]
    addresses = flow.source.packed + flow.destination.packed
    if protocol is Protocol.TCP:
        bits = sum(FLAG_BITS[flag] for flag in flags)
        segment = struct.pack("!HHIIBBHHH", flow.source_port, 80, 1 + ("S" not in flags), 1, 5 << 4, bits, 65535, 0, 0)
        segment = with_checksum(segment, 16, addresses + struct.pack("!II", number, len(segment)))
    elif protocol is Protocol.UDP:
        segment = struct.pack("!HHHH", flow.source_port, 80, 8 + 6, 0) + b"lvslab"
        segment = with_checksum(segment, 6, addresses + struct.pack("!II", number, len(segment)))
    else:
        tag = 0 if flags == "S" else 2
        segment = struct.pack("!HHII", flow.source_port, 80, tag, 0) + CHUNKS[flags]
        segment = segment[:8] + struct.pack("<I", crc32c(segment)) + segment[12:]
    if flow.source.version == 6:
        return struct.pack("!IHBB", 6 << 28, len(segment), number, 64) + addresses + segment
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, number, 0) + addresses
    return with_checksum(header, 10) + segment


def with_checksum(data: bytes, place: int, pseudo_header: bytes = b"") -> bytes:
    """Fill in the Internet checksum (RFC 1071); all ones stand for zero, as UDP has it (RFC 768)."""
    checksum = 0xFFFF - (word_sum(data) + word_sum(pseudo_header)) % 0xFFFF
    return data[:place] + checksum.to_bytes(2, "big") + data[place + 2 :]


class Rig:
    """A network for schedulers, and a fresh key for each service."""

    def __init__(self, lab: Lab, share: Path, counting: Counting) -> None:
        self.lab = lab
        self.table: IpvsTable = lab.ipvs("director")
        self.wire = Wire(lab, share)
        self.counting = counting
        self._markers = FIRST_PORT
        self._keys = 0
        self._ports = FIRST_PORT
        for command in (
            ("ip", "route", "add", "local", f"{VIPS[Family.IPV4]}.0/24", "dev", "lo"),
            ("ip", "route", "add", "local", f"{MARKER_VIP}/32", "dev", "lo"),
            ("ip", "-6", "route", "add", "local", f"{VIPS[Family.IPV6]}:/64", "dev", "lo"),
            ("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=0"),
        ):
            self.director(*command)
        self.table.set_timeouts(LONG)
        self.table.add_service(MARKER)
        address = next(iter(self.server_names(Family.IPV4)))
        self.table.add_destination(MARKER, Destination(address, 80, Method.DR))

    def send(self) -> None:
        """Send what was put on the wire, and wait until the director has taken in all of it.

        Packets wait in a queue of the kernel's when it is busy (net/core/dev.c: enqueue_to_backlog), in order: when
        the last one, a SYN to a service of its own, has an entry, those before it have theirs.
        """
        self._markers += 1
        marker = Flow(SOURCES[Family.IPV4], self._markers, MARKER_VIP)
        self.wire.put(marker, Protocol.TCP, "S")
        self.wire.send()
        while (marker.source, marker.source_port, marker.destination) not in self.chosen():
            time.sleep(0.01)

    def director(self, *argv: str) -> str:
        done = self.lab.node("director").run(*argv)
        assert done.status == 0, done.output
        return done.output

    def server_names(self, family: Family) -> dict[Address, str]:
        servers = self.lab.topology.with_role(Role.REAL_SERVER)
        return {
            address: node.name for node in servers for address in node.own_addresses if Family.of(address) is family
        }

    def new_key(self, family: Family, protocol: Protocol | None) -> tuple[ServiceKey, tuple[Address, ...]]:
        """Return a key never used before, and the destination addresses that lead to it.

        Without a protocol it is a mark; packets then carry no other mark any more.
        """
        self._keys += 1
        if protocol is not None:
            vip = ip_address(
                f"{VIPS[family]}.{self._keys}" if family is Family.IPV4 else f"{VIPS[family]}:{self._keys:x}"
            )
            return AddressKey(protocol, vip, 80), (vip,)
        mark = 1000 + self._keys
        vips = tuple(self._marked_vip(family, number) for number in range(MARKED_VIPS))
        tables = "iptables-legacy" if family is Family.IPV4 else "ip6tables-legacy"
        self.director(tables, "-t", "mangle", "-F", "PREROUTING")
        network = f"{VIPS[family]}.0/24" if family is Family.IPV4 else f"{VIPS[family]}:/64"
        self.director(tables, "-t", "mangle", "-A", "PREROUTING", "-d", network, "-j", "MARK", "--set-mark", str(mark))
        return FwmarkKey(mark, family), vips

    def _marked_vip(self, family: Family, number: int) -> Address:
        return ip_address(f"{VIPS[family]}.{200 + number}" if family is Family.IPV4 else f"{VIPS[family]}:ff{number:x}")

    def new_port(self) -> int:
        """Return a client's port not used before: a packet of a connection that is known is not scheduled."""
        self._ports += 1
        return self._ports

    def chosen(self) -> dict[tuple[Address, int, Address], Address]:
        """Return the server of each connection there is, by client, port and destination address."""
        text = self.lab._sandbox.read_files([("director", "/proc/net/ip_vs_conn")])[0].decode()
        return {(item.client, item.client_port, item.virtual): item.destination for item in proc.connections(text)}

    def has_scheduler(self, name: str) -> bool:
        """Return whether the kernel has a scheduler, be it built in or a module."""
        return self.lab.node("director").run("modprobe", "-q", f"ip_vs_{name}").status == 0


@contextmanager
def rig_in(kernel: RunningKernel, servers: int = SERVERS) -> Iterator[Rig]:
    """Build the network with servers rs1, rs2, … in a kernel that is up."""
    with lab_in(kernel, load_text(TOPOLOGY.replace("SERVERS", str(servers)), "schedulers")) as lab:
        yield Rig(lab, kernel.folder.share, Counting.of_release(kernel.release))


class Twin:
    """A service in the kernel and its model: what is done is done to both, and their choices are compared.

    `counting` is how the model counts when not as this kernel does.
    """

    def __init__(
        self,
        rig: Rig,
        scheduler: str,
        *,
        family: Family = Family.IPV4,
        protocol: Protocol | None = None,
        reading: Reading = "kernel",
        counting: Counting | None = None,
    ) -> None:
        """Without a protocol the service is one by firewall mark, and takes both at several addresses."""
        self.rig = rig
        self.family = family
        self.protocol = protocol
        self.key, self.vips = rig.new_key(family, protocol)
        self.model = ServiceModel(scheduler, reading, counting=counting or rig.counting)
        self.present: dict[str, Destination] = {}
        self.held: list[Held] = []
        self.mismatches: list[Mismatch] = []
        self.connections = 0
        self.refused = 0
        self.marks = 0
        self.cleared = 0
        self.begun = 0.0
        self.now_s = 0.0
        """The kernel's time since `begun`, for schedulers that look at the clock."""
        self._expected: list[tuple[Flow, str, str]] = []
        self._half_open: list[Held] = []
        self.names = rig.server_names(family)
        rig.table.add_service(self.service)

    @property
    def service(self) -> Service:
        return Service(self.key, self.model.name, flags=self.model.scheduler.flags)

    def remove(self) -> None:
        self.rig.table.delete_service(self.key)

    def add(self, name: str, weight: int = 1, *, upper: int = 0, lower: int = 0) -> None:
        destination = self._destination(name, weight, upper, lower)
        self.rig.table.add_destination(self.service, destination)
        self.present[name] = destination
        server = Server(name, weight, address=destination.address, port=destination.port)
        self.model.add(server, upper=upper, lower=lower)

    def edit(self, name: str, weight: int = 1, *, upper: int = 0, lower: int = 0) -> None:
        self.present[name] = self._destination(name, weight, upper, lower)
        self.rig.table.set_destination(self.service, self.present[name])
        self.model.edit(name, weight, upper=upper, lower=lower)

    def delete(self, name: str) -> None:
        self.rig.table.delete_destination(self.key, self.present.pop(name))
        self.model.delete(name)

    def edit_service(self, scheduler: str, flags: frozenset[Flag] = frozenset()) -> None:
        self.rig.table.set_service(Service(self.key, scheduler, flags=flags))
        self.model.edit_service(scheduler, flags)

    def _destination(self, name: str, weight: int, upper: int, lower: int) -> Destination:
        address = next(address for address, node in self.names.items() if node == name)
        return Destination(address, 80 if self.protocol else 0, Method.DR, weight, upper, lower)

    def open(
        self, source: Address, source_port: int, vip: Address, protocol: Protocol, *, established: bool = True
    ) -> None:
        """Open a connection, TCP with a SYN, and an ACK at once or in the end; `compare` sends it.

        SCTP likewise with an INIT and a COOKIE ECHO, which makes it active.
        """
        flow = Flow(source, source_port, vip, self.now_s)
        self.rig.wire.put(flow, protocol, "S")
        before = self._overloaded()
        choice, counted = self.model.open(flow, active=active_at_once(protocol))
        self.marks += len(self._overloaded() - before)
        self._expected.append((flow, counted.server if counted else NOBODY, choice.reason))
        if counted is None:
            return
        held = Held(flow, protocol, counted)
        if protocol is not Protocol.UDP and established:
            self._establish(held)
        elif protocol is not Protocol.UDP:
            self._half_open.append(held)
        self.held.append(held)

    def _establish(self, held: Held) -> None:
        self.rig.wire.put(held.flow, held.protocol, "A")
        if held.protocol is Protocol.SCTP:
            self.model.turn(held.counted, active=True)

    def open_many(self, count: int, protocol: Protocol) -> None:
        for _ in range(count):
            self.open(SOURCES[self.family], self.rig.new_port(), self.vips[0], protocol)
        self.compare()

    def can_close(self, held: Held) -> bool:
        """Packets to a deleted server are dropped before they change anything (ip_vs_core.c: ip_vs_in_hook)."""
        return held.counted.server in self.present

    def close(self, held: Held) -> None:
        if held.counted.active:
            if held.protocol is Protocol.TCP:
                self.rig.wire.put(held.flow, held.protocol, "A")
            self.rig.wire.put(held.flow, held.protocol, "FA")
            self.model.close(held.counted)

    def expire(self, ending: Iterable[Held]) -> None:
        """Let connections end: their last packet starts a timer of one second.

        Not for SCTP, whose timers cannot be set (ip_vs_proto_sctp.c: sctp_timeouts).
        """
        ending = list(ending)
        self.rig.table.set_timeouts(SHORT)
        for held in ending:
            self.close(held)
            self.rig.wire.put(held.flow, held.protocol, "FA")
        self.rig.send()
        self.rig.table.set_timeouts(LONG)
        gone = {held.key for held in ending}
        while gone & self.rig.chosen().keys():
            time.sleep(0.1)
        before = self._overloaded()
        for held in ending:
            self.model.expire(held.counted)
            self.held.remove(held)
        self.cleared += len(before - self._overloaded())

    def _overloaded(self) -> set[str]:
        return {name for name, load in self.model.loads.items() if load.overloaded}

    def outlive(self, seconds: float) -> None:
        """Let so much time pass that every connection expires: more than the minute of a SYN without an ACK."""
        self.now_s = self.rig.lab.sleep(seconds) - self.begun
        for held in self.held:
            self.model.expire(held.counted)
        self.held.clear()

    def compare(self) -> None:
        """Send what was collected; compare who got each new connection, and how many each server has."""
        for held in self._half_open:
            # Without it the entry would expire in a minute, SCTP's in four seconds (SYN_RECV, INIT1).
            self._establish(held)
        self._half_open.clear()
        self.rig.send()
        chosen = self.rig.chosen()
        for flow, predicted, reason in self._expected:
            self.connections += 1
            server = chosen.get((flow.source, flow.source_port, flow.destination))
            got = self.names[server] if server else NOBODY
            self.refused += got == NOBODY
            if got != predicted:
                self.mismatches.append(Mismatch(self.connections, predicted, got, reason))
        self._expected.clear()
        if not self.mismatches:
            self._compare_counts()

    def _compare_counts(self) -> None:
        entries = {item.destination.address: item for item in self.rig.table.service(self.key).destinations}
        counted = {name: entries[item.address] for name, item in self.present.items()}
        loads = {name: self.model.loads[name] for name in self.present}
        assert {name: (item.active, item.inactive) for name, item in counted.items()} == {
            name: (load.active, load.inactive) for name, load in loads.items()
        }

    def become_random(self, scheduler: str) -> None:
        """Give the kernel's service a scheduler without a model; datagrams leave no trace in the counts."""
        self.rig.table.set_service(Service(self.key, scheduler, flags=frozenset({Flag.ONE_PACKET})))

    def datagrams(self, count: int) -> dict[str, int]:
        """Send datagrams that are connections of their own; return how many each server got."""
        before = self._statistics()
        for _ in range(count):
            self.rig.wire.put(Flow(SOURCES[self.family], self.rig.new_port(), self.vips[0]), Protocol.UDP)
        self.rig.send()
        while sum((after := self._statistics()).values()) < sum(before.values()) + count:
            time.sleep(0.1)
        return {name: after[name] - before[name] for name in after}

    def _statistics(self) -> dict[str, int]:
        entries = self.rig.table.service(self.key).destinations
        return {self.names[item.destination.address]: item.stats.connections for item in entries}
