"""The agent's pure functions: sysctl paths, modules.dep, listening ports, ring blocks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lvslab.agent import modules
from lvslab.agent.files import sysctl_path
from lvslab.agent.namespaces import Namespaces
from lvslab.agent.processes import find_program, listening_ports
from lvslab.agent.ring import BLOCKS_WANTED, MAX_BLOCK_BYTES, MIN_BLOCK_BYTES, Recorder, Ring, block_bytes


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward"),
        ("net.ipv4.conf.all.arp_ignore", "/proc/sys/net/ipv4/conf/all/arp_ignore"),
        ("net.ipv4.conf.eth0/100.rp_filter", "/proc/sys/net/ipv4/conf/eth0.100/rp_filter"),
    ],
)
def test_a_sysctl_key_is_a_path(key: str, path: str) -> None:
    assert sysctl_path(key) == Path(path)


MODULES_DEP = """\
kernel/net/netfilter/ipvs/ip_vs.ko: kernel/net/netfilter/nf_conntrack.ko kernel/lib/libcrc32c.ko
kernel/net/netfilter/ipvs/ip_vs_rr.ko.xz: kernel/net/netfilter/ipvs/ip_vs.ko
kernel/net/ipv4/ip-gre.ko:
"""


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "modules.dep").write_text(MODULES_DEP)
    names: list[str] = []
    monkeypatch.setattr(modules, "_load", lambda path: names.append(str(path.relative_to(tmp_path))))
    return names


@pytest.mark.parametrize(
    ("asked", "order", "missing"),
    [
        (
            ["ip_vs"],
            [
                "kernel/lib/libcrc32c.ko",
                "kernel/net/netfilter/nf_conntrack.ko",
                "kernel/net/netfilter/ipvs/ip_vs.ko",
            ],
            [],
        ),
        (["ip_vs_rr"], ["kernel/net/netfilter/ipvs/ip_vs.ko", "kernel/net/netfilter/ipvs/ip_vs_rr.ko.xz"], []),
        (["ip_gre"], ["kernel/net/ipv4/ip-gre.ko"], []),
        (["nothing"], [], ["nothing"]),
    ],
)
def test_modules_are_loaded_after_what_they_need(
    loaded: list[str], tmp_path: Path, asked: list[str], order: list[str], missing: list[str]
) -> None:
    assert modules.load_from(tmp_path / "modules.dep", asked) == missing
    assert loaded == order


def test_a_kernel_without_modules_has_them_all_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "module_folder", lambda: tmp_path)
    assert modules.load_modules(["ip_vs"]) == ["ip_vs"]


TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
"""
TCP6 = """\
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 0A 00000000:00000000
"""


@pytest.mark.parametrize(
    ("tables", "ports"), [([TCP], {80}), ([TCP, TCP6], {80, 53}), (["header\n"], set()), ([], set())]
)
def test_only_listening_ports_count(tables: list[str], ports: set[int]) -> None:
    assert listening_ports(tables) == ports


@pytest.mark.parametrize("ring", [128 << 10, 256 << 10, 1 << 20, 4 << 20])
def test_a_ring_has_several_blocks_of_a_page_and_more(ring: int) -> None:
    size = block_bytes(ring)
    assert MIN_BLOCK_BYTES <= size <= MAX_BLOCK_BYTES
    assert ring % size == 0
    assert size == MIN_BLOCK_BYTES or ring // size >= BLOCKS_WANTED


class FullRing(Ring):
    """A ring whose blocks cannot be written to the spool file."""

    def __init__(self) -> None:
        self.skipped = 0

    def drain(self, spool: int) -> int:
        return os.write(spool, b"block")

    def skip(self) -> None:
        self.skipped += 1

    def close(self) -> None:
        """Nothing to close."""


def test_a_full_disk_is_remembered_until_the_recording_ends() -> None:
    recorder = Recorder(Namespaces(), "/dev/full", [])
    ring = FullRing()
    recorder.rings.append(ring)
    assert [recorder.drain(), recorder.drain()] == [0, 0]
    recorder.close()
    assert recorder.failure is not None
    assert recorder.failure.errno == errno.ENOSPC
    assert ring.skipped == 2


def test_a_recording_given_up_takes_no_more_and_leaves_no_file(tmp_path: Path) -> None:
    recorder = Recorder(Namespaces(), str(tmp_path / "spool"), [])
    ring = FullRing()
    assert recorder.drain_ring(ring) == len(b"block")
    recorder.close()
    recorder.remove()
    recorder.remove()
    assert recorder.drain_ring(ring) == 0
    assert list(tmp_path.iterdir()) == []


def test_programs_are_found_where_a_root_shell_would() -> None:
    assert find_program("sh").endswith("/sh")
    assert find_program("./here") == "./here"
    with pytest.raises(FileNotFoundError, match="no program no-such-program"):
        find_program("no-such-program")
