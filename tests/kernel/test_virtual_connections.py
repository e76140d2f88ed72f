"""A connection's time line in virtual time: every change with its packet, and the examples of docs/connections.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import RunningKernel
from lvslab.lab import open_kernel
from lvslab.traffic.watched import LATE_PERIOD_S
from tests.kernel.support import lvslab, own_images
from tests.kernel.test_connections import HALF_ENDS, NAT_ENDS
from tests.kernel.timeline_support import watched

pytestmark = pytest.mark.kernel

DOCUMENT = Path(__file__).parents[2] / "docs" / "connections.md"


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel_in_virtual_time(request: pytest.FixtureRequest) -> Iterator[RunningKernel]:
    with open_kernel(f"uml:{request.param.release}", name="timelines", virtual_time=True) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@pytest.mark.parametrize("topology", ["nat", "dr"])
def test_in_virtual_time_each_change_has_its_packet_and_the_end_its_time(
    kernel_in_virtual_time: RunningKernel, topology: str
) -> None:
    found = watched(kernel_in_virtual_time, topology, until_gone=True)
    ends = NAT_ENDS if topology == "nat" else HALF_ENDS
    opened = [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK")]
    assert found.states == [(state, [packet]) for state, packet in [*opened, *ends["server"]]]
    last = found.document["events"][-1]
    assert (last["after"], last["frames"]) == (None, [])
    last_packet_ns = max(event["time_ns"] for event in found.document["events"] if event["kind"] == "packet")
    minutes = (last["seen_ns"] - last_packet_ns) / 60e9
    # The kernel may run a timer late, by an eighth of its time (kernel/time/timer.c).
    assert 2 <= minutes <= 2 * (1 + 1 / 8) + LATE_PERIOD_S / 60


EXAMPLE = re.compile(r"```\n\$ lvslab (?P<words>connections .*? --time virtual.*?)\n(?P<text>.*?)```\n", re.DOTALL)
EXAMPLES = [(found["words"], found["text"]) for found in EXAMPLE.finditer(DOCUMENT.read_text())]


@pytest.mark.parametrize("image", own_images(), ids=lambda image: image.release)
@pytest.mark.parametrize(("words", "text"), EXAMPLES, ids=[words for words, _ in EXAMPLES])
def test_the_document_shows_what_the_command_prints(words: str, text: str, image: UmlImage) -> None:
    """Without the milliseconds and the number of readings, which another release of the kernel may change a little."""
    done = lvslab(*words.split(), "--kernel", f"uml:{image.release}", environment={"COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    assert events_of(done.stdout) == events_of(text)


def events_of(text: str) -> list[list[str]]:
    title, *lines = text.splitlines()
    return [[title], *(line.split()[1:] for line in lines if "→" in line or "←" in line or "entry" in line)]


def test_the_document_has_both_machines() -> None:
    assert [words.split()[1] for words, _ in EXAMPLES] == ["nat", "nat", "dr"]
