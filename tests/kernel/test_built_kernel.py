"""Kernels that `lvslab kernel build` made: each can do all that Debian's can, and what that cannot."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from lvslab.kernels.cache import BuiltKernel, read_kernel
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import Origin, UmlImage, images
from lvslab.kernels.start import RunningKernel
from lvslab.lab import open_kernel, shipped_topologies
from lvslab.topology.limits import SCHEDULERS
from tests.kernel.support import lvslab, own_images, run_script

pytestmark = pytest.mark.kernel

MODULES = ("ip_vs", "ip_vs_twos", "ipip", "veth", "bridge", "sch_netem", "nf_conntrack")
FILTERS = (
    *(f"{name}-nft -A INPUT -j ACCEPT && {name}-nft -S INPUT" for name in ("iptables", "ip6tables")),
    "arptables-nft -A INPUT -j ACCEPT && arptables-nft -L INPUT",
    *(f"nft add table {family} t && nft list tables" for family in ("ip", "ip6", "arp", "inet") if shutil.which("nft")),
)


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def image(request: pytest.FixtureRequest) -> UmlImage:
    assert isinstance(request.param, UmlImage)
    return request.param


@pytest.fixture(scope="module")
def kernel(image: UmlImage) -> Iterator[RunningKernel]:
    with open_kernel(f"uml:{image.release}", name="built") as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


def says(kernel: RunningKernel, script: str) -> str:
    done = run_script(kernel, script)
    assert done.status == 0, done.output
    return done.output


def record(image: UmlImage) -> BuiltKernel:
    found = read_kernel(image.program.parent)
    assert found is not None
    return found


def test_everything_shipped_passes(image: UmlImage) -> None:
    done = lvslab("verify", "--kernel", f"uml:{image.release}", "--json", "-")
    results = json.loads(done.stdout)["results"]
    assert done.returncode == 0, done.stdout
    assert [(result["topology"], result["verdict"]) for result in results] == [
        (name, "pass") for name in shipped_topologies()
    ]
    assert {result["kernel_release"] for result in results} == {image.release}


def test_it_is_the_release_that_its_record_says(image: UmlImage, kernel: RunningKernel) -> None:
    assert says(kernel, "uname -r").strip() == kernel.release == record(image).release


def test_it_is_configured_as_its_record_says(image: UmlImage, kernel: RunningKernel) -> None:
    assert says(kernel, "zcat /proc/config.gz") == (image.program.parent / "config").read_text()


def test_every_scheduler_can_be_installed(image: UmlImage, kernel: RunningKernel) -> None:
    script = "".join(f"ipvsadm -A -t 198.18.0.1:{port} -s {name}\n" for port, name in enumerate(SCHEDULERS, start=1))
    table = says(kernel, f"set -e\n{script}ipvsadm -Sn\nipvsadm -C")
    installed = {line.split()[-1] for line in table.splitlines() if line.startswith("-A")}
    assert installed == set(SCHEDULERS) == set(record(image).schedulers)
    assert run_script(kernel, "ipvsadm -A -t 198.18.0.1:1 -s nonsense").status != 0


def test_modprobe_knows_what_is_built_in(kernel: RunningKernel) -> None:
    says(kernel, f"modprobe -a {' '.join(MODULES)}")
    assert run_script(kernel, "modprobe ip_vs_none").status != 0


@pytest.mark.parametrize("command", FILTERS, ids=lambda command: " ".join(command.split()[:4]))
def test_nftables_filters_every_family(kernel: RunningKernel, command: str) -> None:
    says(kernel, command)


def test_all_kernels_side_by_side(tmp_path: Path) -> None:
    releases = list(dict.fromkeys(image.release for image in images() if image.release))
    options = [word for release in releases for word in ("--kernel", f"uml:{release}")]
    done = lvslab("verify", "dr", "nat", *options, "--json", "-", "--pcap", tmp_path / "c.pcapng")
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout)["results"]
    assert [(result["topology"], result["kernel_release"]) for result in results] == [
        (topology, release) for topology in ("dr", "nat") for release in releases
    ]
    names = {
        f"c-{topology}" + f"-{release}" * (len(releases) > 1) for topology, release in product(("dr", "nat"), releases)
    }
    assert {path.stem for path in tmp_path.iterdir()} == names


def test_its_wheel_is_enough_to_run_a_lab(image: UmlImage, tmp_path: Path) -> None:
    if image.origin is Origin.BUILT:
        assert lvslab("kernel", "wheel", image.release, "-o", tmp_path).returncode == 0
        (wheel,) = tmp_path.glob("*.whl")
        target: list[str | Path] = ["--target", tmp_path / "site"]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", *target, wheel]
        subprocess.run(pip, check=True)
        site = tmp_path / "site"
    else:
        site = image.program.parents[1]
    environment = {"XDG_CACHE_HOME": str(tmp_path / "empty"), "PYTHONPATH": str(site), "LVSLAB_KERNEL": "uml"}
    (listed,) = [
        item
        for item in json.loads(lvslab("kernel", "list", "--json", "-", environment=environment).stdout)
        if item["chosen"]
    ]
    assert (listed["origin"], listed["release"]) == (Origin.PACKAGE, image.release)
    done = lvslab("verify", "dr", "--json", "-", environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["kernel_release"] == image.release
