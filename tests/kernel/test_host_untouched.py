"""Labs change nothing on the machine they run on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lvslab.kernels.folder import LOCK
from lvslab.kernels.start import RunningKernel
from tests.kernel.support import lvslab, run_outside

pytestmark = pytest.mark.kernel

WITNESSES = {
    "links": "ip -j link",
    "routes": "ip -j route show table all",
    "namespaces": "ip netns list",
    "mounts": "cat /proc/mounts",
    "settings": "grep -rs . /proc/sys/net/ipv4/conf /proc/sys/net/ipv4/ip_forward",
    "IPVS": "cat /proc/net/ip_vs 2>&1",
}


def look() -> dict[str, str]:
    return {
        name: subprocess.run(["sh", "-c", words], check=False, capture_output=True, text=True).stdout
        for name, words in WITNESSES.items()
    }


def test_verify_leaves_the_host_as_it_was(kernel_kind: str, labs_home: Path) -> None:
    labs = set(labs_home.iterdir())
    before = look()
    done = lvslab("verify", "--kernel", kernel_kind)
    assert done.returncode == 0, done.stderr
    assert look() == before
    assert {path.name for path in set(labs_home.iterdir()) - labs} <= {LOCK}


@pytest.mark.parametrize(
    ("witness", "change", "undo"),
    [
        ("links", "ip link add witness type bridge", "ip link delete witness"),
        ("routes", "ip link set lo up", "ip link set lo down"),
        ("namespaces", "ip netns add witness", "ip netns delete witness"),
        ("mounts", "mount -t tmpfs witness /mnt", "umount /mnt"),
        ("settings", "sysctl -q net.ipv4.ip_forward=1", "sysctl -q net.ipv4.ip_forward=0"),
    ],
)
def test_each_witness_sees_a_change(kernel: RunningKernel, witness: str, change: str, undo: str) -> None:
    """In the kernel of a lab, which may be changed."""
    script = f"set -e; {WITNESSES[witness]}; echo ---; {change}; {WITNESSES[witness]}; {undo}"
    done = run_outside(kernel, "sh", "-c", script)
    assert done.status == 0, done.output
    before, _, after = done.output.partition("---\n")
    assert before != after
