"""What the defences do in minutes, at the kernel's own times: in virtual time.

Sources: net/netfilter/ipvs/ip_vs_proto_tcp.c (tcp_timeouts: SYN_RECV 60 s, SYNACK 120 s, ESTABLISHED 15 min; the
timeouts of secure_tcp are those of every entry: there are none of its own), ip_vs_conn.c (todrop_entry).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, open_kernel
from tests.kernel.support import lab_in, own_images
from tests.kernel.test_defences import SYNS, flood
from tests.kernel.timeline_support import set_vs

pytestmark = pytest.mark.kernel

MINUTE_S = 60
HELD = 40


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel(request: pytest.FixtureRequest) -> Iterator[RunningKernel]:
    image = request.param
    assert isinstance(image, UmlImage)
    with open_kernel(f"uml:{image.release}", name="defences", virtual_time=True) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


def hold(lab: Lab, vip: str, count: int) -> None:
    """Open so many connections from the client, and send nothing on them."""
    script = f"for n in $(seq {count}); do exec {{fd}}<>/dev/tcp/{vip}/80; done; sleep 100000"
    lab.node("client").run("bash", "-c", f"setsid bash -c '{script}' >/dev/null 2>&1 </dev/null &")
    lab.sleep(1)


@pytest.mark.parametrize(("mode", "left"), [(0, 0), (3, SYNS)])
def test_with_dr_secure_tcp_keeps_half_open_entries_twice_as_long(kernel: RunningKernel, mode: int, left: int) -> None:
    """SYNACK in the place of SYN_RECV: against a flood of SYNs it makes the table larger, not smaller."""
    with lab_in(kernel, "dr") as lab:
        set_vs(lab, secure_tcp=mode)
        assert len(flood(lab, 1024)) == SYNS
        lab.sleep(1.5 * MINUTE_S)
        assert len(lab.connections("director")) == left
        lab.sleep(MINUTE_S)
        assert lab.connections("director") == ()


@pytest.mark.parametrize(
    ("topology", "mode", "state", "timeout_s"),
    [
        ("nat", 0, "ESTABLISHED", 15 * MINUTE_S),
        ("nat", 3, "SYNACK", 2 * MINUTE_S),
        ("dr", 0, "ESTABLISHED", 15 * MINUTE_S),
        ("dr", 3, "ESTABLISHED", 15 * MINUTE_S),
    ],
)
def test_who_connects_and_says_nothing_is_soon_forgotten_with_secure_tcp_and_nat(
    kernel: RunningKernel, topology: str, mode: int, state: str, timeout_s: int
) -> None:
    with lab_in(kernel, topology) as lab:
        set_vs(lab, secure_tcp=mode)
        hold(lab, str(lab.topology.services[0].vip), 1)
        (entry,) = lab.connections("director")
    assert entry.state == state
    assert timeout_s - 3 <= entry.expires_s <= timeout_s


@pytest.mark.parametrize("mode", [0, 3])
def test_drop_entry_takes_idle_connections_too(kernel: RunningKernel, mode: int) -> None:
    """Those of few packets, once they have been idle for a minute: a client that only waits pays for it."""
    with lab_in(kernel, "dr") as lab:
        hold(lab, "198.18.0.10", HELD)
        set_vs(lab, drop_entry=mode)
        lab.sleep(MINUTE_S / 2)
        states = [entry.state for entry in lab.connections("director")]
        lab.sleep(12 * MINUTE_S)
        left = len(lab.connections("director"))
    assert states == ["ESTABLISHED"] * HELD
    assert left == HELD if mode == 0 else left < HELD / 2
