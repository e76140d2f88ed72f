"""The recorder keeps up with 5,000 packets a second over six interfaces, and says so when it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lvslab.agent.ring import MIN_BLOCK_BYTES
from lvslab.capture.frame import Capture, Direction
from lvslab.lab import Lab
from lvslab.sandbox import sandbox
from lvslab.traffic.outcome import Outcome
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

SIX_INTERFACES = """
name: six-interfaces
networks: {outside: 203.0.113.0/24, middle: 192.0.2.0/24, inside: 198.18.0.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  router: {role: router, on: {outside: 1, middle: 1}}
  director: {role: director, on: {middle: 2, inside: 1}}
  rs1: {role: real-server, on: {inside: 11}, without: [server]}
services:
  - {vip: 192.0.2.100, port: 5000, protocol: udp, method: nat, scheduler: rr, servers: [{node: rs1, port: 5000}]}
"""
VIP = "192.0.2.100"
PATH = ("client:eth0", "router:eth0", "router:eth1", "director:eth0", "director:eth1", "rs1:eth0")
PACKETS_PER_S = 5000
PACKETS = 10_000

MARK = b"lvslab-seq:"
DIGITS = 8
UDP_PAYLOAD_AT = 14 + 20 + 8
"""Behind the headers of Ethernet, IPv4 without options, and UDP."""
BURSTS = 200
BURST_BYTES = 60_000
FRAGMENTS = 41
"""Of one burst: the kernel sends 1,480 bytes of it in each packet, in one go, so that no reader can come between."""
SENDER = f"""
import socket, sys, time
vip, count, rate, size = sys.argv[1], *map(int, sys.argv[2:])
channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
channel.bind(("", 40000))
begun, sent = time.monotonic(), 0
while sent < count:
    due = min(count, int((time.monotonic() - begun) * rate) + 1)
    while sent < due:
        channel.sendto({MARK!r} + (b"%0{DIGITS}d" % sent).ljust(size - {len(MARK)}), (vip, 5000))
        sent += 1
    time.sleep(0.002)
print(sent, time.monotonic() - begun)
"""


@pytest.fixture
def lab(open_lab_in: OpenLab, tmp_path: Path) -> Iterator[Lab]:
    file = tmp_path / "six-interfaces.yaml"
    file.write_text(SIX_INTERFACES)
    with open_lab_in(file) as lab:
        yield lab


def test_five_thousand_packets_a_second_are_seen_at_six_interfaces_each(
    lab: Lab, record_property: Callable[[str, object], None]
) -> None:
    with lab.record() as recording:
        sent, seconds = send(lab, PACKETS, PACKETS_PER_S)
    capture = recording.finished()
    record_property("packets per second offered", round(sent / seconds))
    assert sent == PACKETS
    assert capture.lost == 0, capture.drops
    assert sequence_numbers(capture) == {where: list(range(PACKETS)) for where in PATH}


def test_a_recorder_that_cannot_keep_up_says_what_it_lost(lab: Lab, small_rings: None) -> None:
    with lab.record() as recording:
        send(lab, BURSTS, PACKETS_PER_S, BURST_BYTES)
    capture = recording.finished()
    recorded = len([frame for frame in capture.frames if frame.where == "client:eth0"])
    assert capture.drops["client"] > 0
    assert recorded + capture.drops["client"] >= BURSTS * FRAGMENTS


def test_a_lossy_capture_is_an_error_and_never_a_failure(
    lab: Lab, small_rings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much() -> tuple[Outcome, ...]:
        send(lab, BURSTS, PACKETS_PER_S, BURST_BYTES)
        return ()

    monkeypatch.setattr(lab, "drive", too_much)
    result = lab.verify()
    verdicts = {item.name: item.verdict for item in result.expectations}
    assert verdicts["capture-complete"] is Verdict.ERROR
    assert Verdict.FAIL not in verdicts.values()
    assert result.verdict is Verdict.ERROR


@pytest.fixture
def small_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rings of two blocks, which one burst overfills."""
    monkeypatch.setattr(sandbox, "MIN_RING_BYTES", 2 * MIN_BLOCK_BYTES)
    monkeypatch.setattr(sandbox, "MAX_RING_BYTES", 2 * MIN_BLOCK_BYTES)


def send(lab: Lab, count: int, per_second: int, size: int = len(MARK) + DIGITS) -> tuple[int, float]:
    """Send numbered datagrams of `size` bytes to the VIP; return how many, and in how many seconds."""
    words = (VIP, str(count), str(per_second), str(size))
    done = lab.node("client").run("python3", "-I", "-S", "-c", SENDER, *words, timeout_s=300)
    assert done.status == 0, done.output
    sent, seconds = done.output.split()
    return int(sent), float(seconds)


def sequence_numbers(capture: Capture) -> dict[str, list[int]]:
    """Return the numbers seen at each interface, in the order of seeing; ICMP errors that quote one do not count."""
    found: dict[str, list[int]] = {}
    for frame in capture.frames:
        at = frame.data.find(MARK)
        if at == UDP_PAYLOAD_AT and frame.direction is not Direction.OVERHEARD:
            number = int(frame.data[at + len(MARK) : at + len(MARK) + DIGITS])
            found.setdefault(frame.where, []).append(number)
    return found
