"""A Mininet Topo class as values: hosts, switches, and cables."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.mininet import TOPO_READER
from lvslab.mininet.install import need_python


@dataclass(frozen=True, slots=True)
class CableEnd:
    """`ip` is what the link's own parameters say, `bw` in Mbit/s, `delay` a time; empty for none."""

    node: str
    port: int
    ip: str
    bw: str
    delay: str


@dataclass(frozen=True, slots=True)
class Cable:
    ends: tuple[CableEnd, CableEnd]
    others: tuple[str, ...]
    """Options that have no place here."""


@dataclass(frozen=True, slots=True)
class TopoHost:
    name: str
    ip: str
    default_route: str


@dataclass(frozen=True, slots=True)
class MininetTopo:
    name: str
    source: str
    hosts: tuple[TopoHost, ...]
    switches: tuple[str, ...]
    cables: tuple[Cable, ...]


def read_topo(path: Path, name: str) -> MininetTopo:
    """Make a Topo of a file and return what it describes; the file is run. Raises BadInput, CannotRun."""
    if not path.is_file():
        raise BadInput("there is no such file", where=str(path), expected="Python with a Mininet Topo class")
    argv = [need_python(), "-I", "-B", str(TOPO_READER), str(path), name]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing said"]
        raise BadInput("no topology can be made of it", where=f"{path}:{name}", found=said[-1])
    facts = json.loads(done.stdout)
    return MininetTopo(
        name,
        f"{path}:{name}",
        tuple(TopoHost(each, said["ip"] or "", said["defaultRoute"] or "") for each, said in facts["hosts"].items()),
        tuple(facts["switches"]),
        tuple(_cable(each) for each in facts["cables"]),
    )


def _cable(facts: Mapping[str, list[Mapping[str, str]]]) -> Cable:
    first, second = (
        CableEnd(end["node"], int(end["port"]), end["ip"] or "", end["bw"], end["delay"]) for end in facts["ends"]
    )
    return Cable((first, second), tuple(str(each) for each in facts["others"]))
