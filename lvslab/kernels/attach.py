"""Labs that stay: their record on disk, and the way back to their broker.

What `exec`, `shell` and `ps` need is here, and imports little: they are to start in a blink.
"""

from __future__ import annotations

import json
import os
import re
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.agent.wire import FrameReader, Kind, WireError, WireFrame
from lvslab.errors import BadInput, CannotRun, KernelFault
from lvslab.kernels.folder import (
    SOCKET,
    SOCKET_AHEAD,
    LabFolder,
    all_labs_locked,
    is_dead,
    is_lab,
    labs_home,
    open_standard_descriptors,
    remove_lab,
)

if TYPE_CHECKING:
    from lvslab.kernels.start import RunningKernel

RECORD = "lab.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
HELLO_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 30.0
READ_BYTES = 1 << 16
_POLL_S = 0.01
_SAY_WHICH = "name it: --lab NAME (of lvslab down: NAME alone)"
_CREDENTIALS = struct.Struct("3i")
"""struct ucred: process, user, group."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """What is known of a node without asking it; addresses and role as text."""

    name: str
    role: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """What is known of a virtual service without asking it."""

    vip: str
    port: int
    protocol: str


@dataclass(frozen=True, slots=True)
class LabRecord:
    """What is known of a lab that stays, without asking it."""

    name: str
    folder: str
    kernel: str
    release: str
    topology: str
    """The topology's name."""
    description: str
    """The topology as it was built, parameters and removals filled in; a topology file's text."""
    source: str
    nodes: tuple[NodeRecord, ...]
    services: tuple[ServiceRecord, ...]
    begun: float
    """Seconds since the epoch."""
    virtual_time: bool = False
    backend: str = "netns"
    """What built the network."""

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)

    def require_node(self, name: str) -> None:
        """Raise BadInput if the lab has no such node."""
        if name not in self.node_names:
            known = f"one of {', '.join(self.node_names)}"
            raise BadInput("no such node", where=self.name, expected=known, found=name)

    @property
    def is_up(self) -> bool:
        """Whether its maker has let go of it."""
        return (self.path / SOCKET).exists()


def claim(record: LabRecord) -> None:
    """Write a new lab's record, unless one of its name is there. Raises BadInput, and what `write_record` does."""
    with all_labs_locked():
        refuse_second(record.name)
        write_record(record)


def write_record(record: LabRecord) -> None:
    """Replace a lab's record; a reader sees the old one or the new one. Raises CannotRun if it cannot be written."""
    temporary = record.path / f"{RECORD}.new"
    try:
        temporary.write_text(json.dumps(asdict(record)))
        temporary.replace(record.path / RECORD)
    except OSError as error:
        raise CannotRun(
            "the lab's record cannot be written",
            where=record.folder,
            found=error.strerror,
            next_step="make room, or set LVSLAB_HOME to another folder",
        ) from error


def refuse_second(name: str) -> None:
    """Raise BadInput if `name` is no name for a lab, or that of one that lives or is just coming up."""
    if not NAME.fullmatch(name):
        expected = "letters, digits, dots, hyphens and underscores, at most 63"
        raise BadInput("this is no name for a lab", where="--name", expected=expected, found=repr(name))
    if any(record.name == name for record in labs()):
        raise BadInput(
            "a lab of this name is up already, or coming up",
            where=name,
            next_step=f"lvslab down {name}, or give the new one another --name",
        )


def running_labs() -> tuple[LabRecord, ...]:
    """Return the labs that stay and live, oldest first. Raises CannotRun if the folder for labs cannot be used."""
    return tuple(record for record in labs() if record.is_up)


def labs() -> tuple[LabRecord, ...]:
    """Return the labs that stay and live, and those that are coming up, oldest first. Raises CannotRun likewise."""
    alive = [path for path in labs_home().iterdir() if is_lab(path) and not is_dead(path)]
    found = [record for path in alive if (record := read_record(path)) is not None]
    return tuple(sorted(found, key=lambda record: (record.begun, record.name)))


def read_record(path: Path) -> LabRecord | None:
    """Return the record in a lab's folder, or None if there is none that makes sense."""
    try:
        facts = json.loads((path / RECORD).read_text())
        nodes = [_read_node(node) for node in facts["nodes"]]
        services = [ServiceRecord(str(one["vip"]), int(one["port"]), str(one["protocol"])) for one in facts["services"]]
        name, kernel, release, topology, description, source = _texts(
            facts, "name", "kernel", "release", "topology", "description", "source"
        )
        # Where it lies is where it is: no record may name another folder, to be waited for and removed.
        folder, begun = str(path), float(facts["begun"])
    except (OSError, ValueError, TypeError, LookupError):
        return None
    virtual_time = facts.get("virtual_time") is True
    return LabRecord(
        name,
        folder,
        kernel,
        release,
        topology,
        description,
        source,
        tuple(nodes),
        tuple(services),
        begun,
        virtual_time,
        backend=str(facts.get("backend", "netns")),
    )


def _read_node(facts: Mapping[str, object]) -> NodeRecord:
    name, role = _texts(facts, "name", "role")
    return NodeRecord(name, role, _items(facts, "addresses"))


def _texts(facts: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    return _items({"": [facts[key] for key in keys]}, "")


def _items(facts: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return a list of texts. Raises TypeError if it is something else."""
    values = facts[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{key} is no list of texts")
    return tuple(values)


def find_lab(name: str | None = None) -> LabRecord:
    """Return the lab called `name`, or the only one that is up. Raises BadInput."""
    found = labs()
    up = tuple(record for record in found if record.is_up)
    record = _choose(up if name is None and up else found, name)
    if not record.is_up:
        raise BadInput("the lab is not up yet", where=record.name, next_step="wait for the lvslab up that builds it")
    return record


def find_lab_to_stop(name: str | None = None) -> LabRecord:
    """Return the lab called `name`, or the only one; it may be coming up still. Raises BadInput."""
    return _choose(labs(), name)


def _choose(found: Sequence[LabRecord], name: str | None) -> LabRecord:
    if not found:
        raise BadInput("no lab is up", next_step="lvslab up NAME starts one (lvslab topologies lists them)")
    names = ", ".join(record.name for record in found)
    if name is None:
        if len(found) > 1:
            raise BadInput("several labs are up", expected="the name of one of them", found=names, next_step=_SAY_WHICH)
        return found[0]
    for record in found:
        if record.name == name:
            return record
    raise BadInput("no such lab is up", where=name, expected=f"one of those that are: {names}")


def connect(record: LabRecord, address: str = SOCKET) -> socket.socket:
    """Return a connection to the lab's broker, at a socket in the lab's folder. Raises KernelFault if it is gone."""
    open_standard_descriptors()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = -1
    try:
        # By way of a descriptor, because a socket's address has room for 108 bytes only (unix(7)).
        folder = os.open(record.folder, os.O_PATH | os.O_DIRECTORY)
        connection.connect(f"/proc/self/fd/{folder}/{address}")
    except OSError as error:
        connection.close()
        raise KernelFault(
            "the lab does not answer", where=record.name, found=error.strerror, next_step="see lvslab ps"
        ) from error
    finally:
        if folder >= 0:
            os.close(folder)
    return connection


def receive_frames(connection: socket.socket, frames: FrameReader, take: Callable[[WireFrame], None]) -> None:
    """Wait for what comes from a lab, and hand each frame to `take`.

    Raises KernelFault if the lab is gone, or if what came makes no sense to the reader or (WireError) to `take`.
    """
    try:
        data = connection.recv(READ_BYTES)
    except ConnectionError:
        data = b""
    if not data:
        raise KernelFault("the lab is gone", next_step="see lvslab ps")
    try:
        for frame in frames.feed(data):
            take(frame)
    except WireError as error:
        raise KernelFault("what the agent sent makes no sense", found=str(error)) from error


def attach(record: LabRecord) -> RunningKernel:
    """Return the kernel of a lab that stays; closing it leaves the lab alone. Raises KernelFault."""
    from lvslab.kernels.channel import Channel
    from lvslab.kernels.start import RunningKernel

    channel = Channel(connect(record))
    kernel = RunningKernel(record.kernel, channel, LabFolder(record.path, lock=-1), broker=0, hello={})
    kernel.wait_until_up(HELLO_TIMEOUT_S)
    return kernel


def stop(record: LabRecord) -> None:
    """End a lab and wait until nothing of it is left; one that is ending by itself is no fault.

    Raises KernelFault if it does not go.
    """
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while record.path.exists():
        if is_dead(record.path):
            with all_labs_locked():
                remove_lab(record.path)
        else:
            # In this order: one that has just come up has moved from the first to the second.
            for address in (SOCKET_AHEAD, SOCKET):
                _tell_to_stop(record, address)
        if time.monotonic() > deadline:
            raise KernelFault("the lab does not end", where=record.name, next_step="end its broker (lvslab-broker)")
        time.sleep(_POLL_S)


def _tell_to_stop(record: LabRecord, address: str) -> None:
    """Tell the broker, and wait for its end; one that does not answer is not there yet, on its way out, or dead."""
    with suppress(KernelFault, OSError), connect(record, address) as connection:
        broker = _peer(connection)
        connection.sendall(WireFrame(Kind.STOP, 0, b"").encode())
        try:
            select.select([broker], [], [], STOP_TIMEOUT_S)
        finally:
            os.close(broker)


def _peer(connection: socket.socket) -> int:
    """Return a descriptor of the process at the other end, readable once it has ended (unix(7), pidfd_open(2))."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return os.pidfd_open(_CREDENTIALS.unpack(credentials)[0])
