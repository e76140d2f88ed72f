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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.agent.wire import Kind, WireFrame
from lvslab.errors import BadInput, KernelFault
from lvslab.kernels.folder import (
    SOCKET,
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
_POLL_S = 0.01
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

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)


def claim(record: LabRecord) -> None:
    """Write a lab's record, unless one of its name is there. Raises BadInput, or CannotRun if it cannot be written."""
    with all_labs_locked():
        refuse_second(record.name)
        temporary = record.path / f"{RECORD}.new"
        temporary.write_text(json.dumps(asdict(record)))
        temporary.replace(record.path / RECORD)


def refuse_second(name: str) -> None:
    """Raise BadInput if `name` is no name for a lab, or that of one that lives or is just coming up."""
    if not NAME.fullmatch(name):
        expected = "letters, digits, dots, hyphens and underscores, at most 63"
        raise BadInput("this is no name for a lab", where="--name", expected=expected, found=repr(name))
    if any(record.name == name for record in _recorded_labs()):
        raise BadInput(
            "a lab of this name is up already",
            where=name,
            next_step=f"lvslab down {name}, or give the new one another --name",
        )


def running_labs() -> tuple[LabRecord, ...]:
    """Return the labs that stay and live, oldest first. Raises CannotRun if the folder for labs cannot be used."""
    return tuple(record for record in _recorded_labs() if (record.path / SOCKET).exists())


def _recorded_labs() -> tuple[LabRecord, ...]:
    """Return also those whose maker has not let go of them yet."""
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
    return LabRecord(name, folder, kernel, release, topology, description, source, tuple(nodes), tuple(services), begun)


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
    labs = running_labs()
    if not labs:
        raise BadInput("no lab is up", next_step="lvslab up NAME starts one (lvslab topologies lists them)")
    names = ", ".join(record.name for record in labs)
    if name is None:
        if len(labs) > 1:
            raise BadInput("several labs are up", expected="the name of one of them", found=names)
        return labs[0]
    for record in labs:
        if record.name == name:
            return record
    raise BadInput("no such lab is up", where=name, expected=f"one of those that are: {names}")


def connect(record: LabRecord) -> socket.socket:
    """Return a connection to the lab's broker. Raises KernelFault if it is gone."""
    open_standard_descriptors()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = -1
    try:
        # By way of a descriptor, because a socket's address has room for 108 bytes only (unix(7)).
        folder = os.open(record.folder, os.O_PATH | os.O_DIRECTORY)
        connection.connect(f"/proc/self/fd/{folder}/{SOCKET}")
    except OSError as error:
        connection.close()
        raise KernelFault(
            "the lab does not answer", where=record.name, found=error.strerror, next_step="see lvslab ps"
        ) from error
    finally:
        if folder >= 0:
            os.close(folder)
    return connection


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
    # If the broker does not answer, it is on its way out, or dead.
    with suppress(KernelFault, OSError), connect(record) as connection:
        broker = _peer(connection)
        connection.sendall(WireFrame(Kind.STOP, 0, b"").encode())
        try:
            select.select([broker], [], [], STOP_TIMEOUT_S)
        finally:
            os.close(broker)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while record.path.exists():
        if is_dead(record.path):
            with all_labs_locked():
                remove_lab(record.path)
        if time.monotonic() > deadline:
            raise KernelFault("the lab does not end", where=record.name, next_step="end its broker (lvslab-broker)")
        time.sleep(_POLL_S)


def _peer(connection: socket.socket) -> int:
    """Return a descriptor of the process at the other end, readable once it has ended (unix(7), pidfd_open(2))."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return os.pidfd_open(_CREDENTIALS.unpack(credentials)[0])
