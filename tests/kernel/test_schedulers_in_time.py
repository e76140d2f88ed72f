"""lblc and lblcr forget what was not used for a time: hours pass, in virtual time."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from lvslab.ipvs.model import Family
from lvslab.ipvs.schedulers.lblc import KernelLocality
from lvslab.ipvs.schedulers.lblcr import KernelReplicatedLocality
from lvslab.ipvs.schedulers.locality import DAY_S
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.lab import open_kernel
from lvslab.topology.model import Protocol
from tests.kernel.scheduler_rig import SHORT, SOURCES, Rig, Twin, rig_in
from tests.kernel.support import own_images

pytestmark = pytest.mark.kernel

LONG = bool(os.environ.get("LVSLAB_LONG"))
HOUR_S = 3600.0
EXPIRATIONS_S = (HOUR_S, DAY_S) if LONG else (HOUR_S,)
FORGETTING_S = 0.7 * HOUR_S
"""The kernel looks for what to forget every half hour, and its timers of a minute are some seconds late."""


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    image = request.param
    assert isinstance(image, UmlImage)
    with open_kernel(f"uml:{image.release}", name="days", virtual_time=True) as kernel:
        kernel.wait_until_up(UP_TIMEOUT_S)
        with rig_in(kernel, servers=2) as made:
            made.table.set_timeouts(SHORT)
            # The estimators wake the kernel every 40 ms (net/netfilter/ipvs/ip_vs_est.c), which takes real time.
            made.director("sysctl", "-qw", "net.ipv4.vs.run_estimation=0")
            yield made


@pytest.mark.parametrize("expiration_s", EXPIRATIONS_S)
def test_what_was_not_used_in_time_is_forgotten(rig: Rig, expiration_s: float) -> None:
    twins = {name: Twin(rig, name, protocol=Protocol.TCP) for name in ("lblc", "lblcr")}
    timeless = {name: Twin(rig, name, protocol=Protocol.TCP) for name in ("lblc", "lblcr")}
    everyone = [*twins.values(), *timeless.values()]
    for twin in everyone:
        expire_after(twin, expiration_s)
        twin.add("rs1")
        call(twin)
        twin.add("rs2")
    wait(rig, everyone, 0.9 * expiration_s)
    assert [called(twin) for twin in everyone] == ["rs1"] * len(everyone)
    wait(rig, everyone, expiration_s + FORGETTING_S)
    for twin in timeless.values():
        twin.now_s = 0.0
    # With no connection left the newest has the least; only a model whose clock stands still remembers.
    assert [called(twin) for twin in everyone] == ["rs2"] * len(everyone)
    assert [len(twin.mismatches) for twin in everyone] == [0, 0, 1, 1]


def expire_after(twin: Twin, seconds: float) -> None:
    scheduler = twin.model.scheduler
    assert isinstance(scheduler, KernelLocality | KernelReplicatedLocality)
    scheduler.cache.expiration_s = seconds
    twin.rig.director("sysctl", "-qw", f"net.ipv4.vs.{twin.model.name}_expiration={int(seconds)}")
    twin.begun = twin.rig.lab.sleep(0)


def wait(rig: Rig, twins: list[Twin], seconds: float) -> None:
    rig.lab.sleep(seconds)
    for twin in twins:
        twin.outlive(0)


def call(twin: Twin) -> None:
    twin.open(SOURCES[Family.IPV4], twin.rig.new_port(), twin.vips[0], Protocol.TCP)
    twin.compare()


def called(twin: Twin) -> str:
    """Make one connection; return whom the kernel gave it."""
    call(twin)
    return twin.names[twin.rig.chosen()[twin.held[-1].key]]
