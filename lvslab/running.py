"""Labs that stay up between commands: made by `up`, used by `exec`, `shell`, `walk`, `verify`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.errors import BadInput
from lvslab.kernels.attach import (
    LabRecord,
    NodeRecord,
    ServiceRecord,
    attach,
    claim,
    find_lab,
    refuse_second,
    write_record,
)
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.lab import Lab, Phase, open_kernel, quiet
from lvslab.sandbox.backends import NETNS, need_backend

if TYPE_CHECKING:
    from lvslab.kernels.start import RunningKernel
    from lvslab.topology.model import Topology

__all__ = ["LabRecord", "attached", "find_lab", "summary", "up"]


def up(
    topology: Topology,
    *,
    name: str | None = None,
    kernel: str | None = None,
    backend: str = NETNS,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    virtual_time: bool = False,
    share: Path | None = None,
    phase: Phase = quiet,
) -> LabRecord:
    """Build a topology in a kernel that stays; return its record. Raises BadInput, CannotRun, KernelFault.

    `share` is a folder of the host that nodes may write to: without one nothing that is done in a node reaches the
    host's files. `name` is what the lab is called, by default as its topology; two labs of one name cannot be up at
    once. On failure nothing is left.
    """
    from lvslab.plan import make_plan
    from lvslab.sandbox.machines import machine_files
    from lvslab.sandbox.sandbox import Sandbox

    shared = None if share is None else _shareable(share)
    wanted = topology.name if name is None else name
    need_backend(backend)
    refuse_second(wanted)
    with open_kernel(kernel, memory_mib=memory_mib, virtual_time=virtual_time) as running:
        record = _record(wanted, topology, running, backend)
        # Two of one name may have come this far together; the first to claim it stays.
        claim(record)
        with phase(f"{wanted}: boot"):
            running.wait_until_up(UP_TIMEOUT_S)
        with phase(f"{wanted}: build"):
            sandbox = Sandbox(running, make_plan(topology), backend=backend)
            sandbox.build()
            if shared is not None:
                sandbox.share_folder(shared)
            sandbox.make_machines(machine_files(topology))
        record = replace(record, release=running.release, begun=time.time(), virtual_time=running.virtual_time)
        write_record(record)
        running.leave()
    return record


def _shareable(folder: Path) -> Path:
    path = folder.resolve()
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise BadInput("this folder cannot be shared", where=str(folder), expected="a folder that you may write to")
    if path in (Path("/"), Path.home().resolve()):
        raise BadInput(
            "this is too much to share", where=str(path), expected="a folder that may be lost", next_step="make one"
        )
    return path


def _record(name: str, topology: Topology, running: RunningKernel, backend: str) -> LabRecord:
    return LabRecord(
        name=name,
        folder=str(running.folder.path),
        kernel=running.kind,
        release=running.release,
        backend=backend,
        topology=topology.name,
        description=topology.rendered,
        source=topology.source,
        nodes=tuple(
            NodeRecord(node.name, node.role.value, tuple(str(address) for address in node.own_addresses))
            for node in topology.nodes
        ),
        services=tuple(ServiceRecord(str(one.vip), one.port, one.protocol.value) for one in topology.services),
        begun=time.time(),
    )


def _topology_of(record: LabRecord) -> Topology:
    from lvslab.topology import load_text

    return load_text(record.description, record.source)


@contextmanager
def attached(record: LabRecord) -> Iterator[Lab]:
    """Use a lab that is up; it stays when the body ends."""
    from lvslab.plan import make_plan
    from lvslab.sandbox.sandbox import Sandbox

    topology = _topology_of(record)
    kernel = attach(record)
    try:
        yield Lab(topology, kernel, Sandbox(kernel, make_plan(topology), backend=record.backend), shared=True)
    finally:
        kernel.close()


def summary(record: LabRecord) -> Mapping[str, object]:
    """Return what `lvslab ps --json` says of a lab, as plain values."""
    facts = asdict(record)
    return {key: fact for key, fact in facts.items() if key not in ("description", "source")}
