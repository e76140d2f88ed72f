"""Live captures at the client: what the agent streams becomes a pcapng file that is whole whenever it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from lvslab.agent.wire import GRANT_PAYLOAD, HEADER, FrameReader, Kind, Message, WireFrame, message_frames
from lvslab.capture.frame import Frame, FrameFields
from lvslab.capture.live import CHANNEL, Summary, Tap, capture_live
from lvslab.capture.pcapng import read_capture
from lvslab.capture.reorder import ReorderWindow
from lvslab.capture.spool import SpoolReader
from lvslab.errors import BadInput, KernelFault
from lvslab.sandbox.devices import Devices
from tests.unit.capture.frames import frame
from tests.unit.capture.test_spool import INTERFACES, NODES, block, packet

TAPS = (Tap("client"), Tap("director"))
ETHERNET, TUNNEL = 1, 768
"""ARPHRD_ETHER and ARPHRD_TUNNEL of linux/if_arp.h."""
SECOND = 1_700_000_000
EARLY = block(packet(b"early", at=(SECOND, 10), last=True), node=1)
LATE = block(packet(b"late", at=(SECOND, 20), last=True))
ANSWER = message_frames(CHANNEL, Message({}))


class KnownDevices(Devices):
    """Devices that need no kernel."""

    def __init__(self) -> None:
        """Ask nobody."""

    def hardware(self, node: str) -> dict[str, int]:
        names = [name for (owner, _), name in INTERFACES.items() if owner == node]
        return {name: TUNNEL if name.startswith("tunl") else ETHERNET for name in names}

    def name(self, device: tuple[str, int]) -> str:
        return INTERFACES[device]


class Agent:
    """The other end of the connection; what it will say is said before the client begins."""

    def __init__(self) -> None:
        self.client, self._end = socket.socketpair()

    def say(self, *frames: bytes) -> None:
        self._end.sendall(b"".join(frames))

    def hang_up(self) -> None:
        self._end.shutdown(socket.SHUT_WR)

    def heard(self) -> list[WireFrame]:
        self._end.setblocking(False)
        return list(FrameReader().feed(self._end.recv(1 << 16)))

    def close(self) -> None:
        self.client.close()
        self._end.close()


@pytest.fixture
def agent() -> Iterator[Agent]:
    agent = Agent()
    yield agent
    agent.close()


def stream(data: bytes) -> bytes:
    return WireFrame(Kind.STREAM, CHANNEL, b"\x01" + data).encode()


def ended(**dropped: int) -> bytes:
    return WireFrame(Kind.EXIT, CHANNEL, json.dumps({"dropped": dropped}).encode()).encode()


def gone(reason: str) -> bytes:
    return WireFrame(Kind.GONE, 0, json.dumps({"reason": reason, "last_words": ""}).encode()).encode()


def run(agent: Agent, path: Path, taps: tuple[Tap, ...] = TAPS, *, limit: int | None = None) -> Summary:
    with path.open("wb") as file:
        return capture_live(agent.client, KnownDevices(), taps, file.fileno(), limit=limit)


def data_of(path: Path) -> list[bytes]:
    return [one.data for one in read_capture(path).frames]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_records_read_the_same_however_they_are_cut(size: int) -> None:
    spool = LATE + EARLY + block(packet(b"one"), packet(b"two", last=True))
    reader = SpoolReader("here", NODES, INTERFACES.get)
    pieces = [spool[at : at + size] for at in range(0, len(spool), size)]
    assert [fields[5] for piece in pieces for fields in reader.feed(piece)] == [b"late", b"early", b"one", b"two"]
    reader.finish()


def test_a_fault_is_named_by_its_place_in_the_whole_stream() -> None:
    reader = SpoolReader("here", NODES, INTERFACES.get)
    list(reader.feed(LATE))
    with pytest.raises(KernelFault, match=f"here: byte {len(LATE)}: .* not a record"):
        list(reader.feed(b"PCAP" + bytes(12)))


def fields_at(time_ns: int) -> FrameFields:
    one = frame(b"x", time_ns=time_ns)
    return (time_ns, one.node, one.interface, one.direction, one.link_type, one.data, one.wire_bytes, True, None)


@pytest.mark.parametrize(
    ("arrivals", "released_at", "times"),
    [
        ([(0.0, 5), (0.1, 3)], 0.9, []),
        ([(0.0, 5), (0.1, 3)], 1.0, [3, 5]),
        ([(0.0, 5), (0.1, 7)], 1.0, [5]),
        ([(0.0, 5), (0.1, 7)], 1.1, [5, 7]),
        ([(0.0, 5), (0.0, 5)], 1.0, [5, 5]),
        ([], 9.0, []),
    ],
    ids=["too early", "an earlier one came meanwhile", "a later one waits", "all due", "at the same time", "none"],
)
def test_frames_leave_in_order_of_time(arrivals: list[tuple[float, int]], released_at: float, times: list[int]) -> None:
    window = ReorderWindow(1.0)
    for now_s, time_ns in arrivals:
        window.add(fields_at(time_ns), now_s)
    assert [fields[0] for fields in window.release(released_at)] == times


def test_a_frame_that_comes_too_late_is_kept_all_the_same() -> None:
    window = ReorderWindow(1.0)
    window.add(fields_at(5), 0.0)
    assert [fields[0] for fields in window.release(1.0)] == [5]
    window.add(fields_at(3), 1.1)
    assert window.next_s == pytest.approx(2.1)
    assert [fields[0] for fields in window.release(2.1)] == [3]
    assert window.next_s is None


def test_frames_of_two_nodes_are_merged_and_losses_are_told(agent: Agent, tmp_path: Path) -> None:
    agent.say(ANSWER, stream(LATE[:30]), stream(LATE[30:]), stream(EARLY), ended(client=0, director=7))
    summary = run(agent, tmp_path / "live.pcapng")
    capture = read_capture(tmp_path / "live.pcapng")
    assert [(one.number, one.where, one.data) for one in capture.frames] == [
        (1, "director:eth0", b"early"),
        (2, "client:eth0", b"late"),
    ]
    assert capture.drops == {"director": 7}
    assert summary == Summary(2, {"client": 0, "director": 7})


def test_as_much_is_granted_as_was_read(agent: Agent, tmp_path: Path) -> None:
    agent.say(ANSWER, stream(LATE), stream(EARLY), ended())
    run(agent, tmp_path / "live.pcapng")
    grants = [GRANT_PAYLOAD.unpack(one.payload)[0] for one in agent.heard() if one.kind is Kind.GRANT]
    assert grants == [len(LATE), len(EARLY)]


@pytest.mark.parametrize(
    ("taps", "names"),
    [
        (TAPS, ["client:lo", "client:eth0", "director:eth0", "director:tunl0"]),
        ((Tap("director", "tunl0"), Tap("client")), ["director:tunl0", "client:lo", "client:eth0"]),
    ],
    ids=["whole nodes", "one interface"],
)
def test_interfaces_are_described_before_the_first_frame(
    taps: tuple[Tap, ...], names: list[str], agent: Agent, tmp_path: Path
) -> None:
    agent.say(ANSWER, ended())
    run(agent, tmp_path / "live.pcapng", taps)
    written = (tmp_path / "live.pcapng").read_bytes()
    places = [written.find(name.encode()) for name in names]
    assert -1 not in places
    assert places == sorted(places)
    assert written.count(b"director:") + written.count(b"client:") == len(names)


def test_the_capture_ends_after_as_many_frames_as_wanted(agent: Agent, tmp_path: Path) -> None:
    agent.say(ANSWER, stream(LATE), stream(EARLY), ended())
    summary = run(agent, tmp_path / "live.pcapng", limit=1)
    assert summary.frames == 1
    assert data_of(tmp_path / "live.pcapng") == [b"early"]
    assert Kind.SIGNAL in [one.kind for one in agent.heard()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_capture(number: signal.Signals, agent: Agent, tmp_path: Path) -> None:
    """The agent hangs up only because a client that never asks for the end would wait for ever."""

    class Interrupted(KnownDevices):
        def hardware(self, node: str) -> dict[str, int]:
            os.kill(os.getpid(), number)
            return super().hardware(node)

    agent.say(ANSWER, stream(LATE))
    agent.hang_up()
    before = signal.getsignal(number)
    with (tmp_path / "live.pcapng").open("wb") as file:
        capture_live(agent.client, Interrupted(), TAPS, file.fileno())
    assert [one.kind for one in agent.heard() if one.kind is Kind.SIGNAL] == [Kind.SIGNAL]
    assert data_of(tmp_path / "live.pcapng") == [b"late"]
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (gone("the lab was stopped"), "the lab was stopped"),
        (b"", "the lab is gone"),
        (b"\xff" * HEADER.size, "makes no sense"),
    ],
    ids=["told", "not told", "nonsense"],
)
def test_a_lab_that_goes_away_leaves_a_whole_file(last: bytes, reason: str, agent: Agent, tmp_path: Path) -> None:
    agent.say(ANSWER, stream(LATE), stream(EARLY[:40]), last)
    agent.hang_up()
    summary = run(agent, tmp_path / "live.pcapng")
    assert data_of(tmp_path / "live.pcapng") == [b"late"]
    assert summary.dropped is None
    assert reason in str(summary.fault)


def test_a_capture_that_cannot_begin_says_why(agent: Agent, tmp_path: Path) -> None:
    error = {"errno": 12, "text": "Cannot allocate memory" + "!" * 2000}
    agent.say(message_frames(CHANNEL, Message({"error": error})))
    with pytest.raises(KernelFault, match="cannot begin: found Cannot allocate memory"):
        run(agent, tmp_path / "live.pcapng")
    assert (tmp_path / "live.pcapng").read_bytes() == b""


def test_a_reader_that_is_gone_from_the_beginning_ends_the_capture(agent: Agent) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    agent.say(ANSWER)
    assert capture_live(agent.client, KnownDevices(), TAPS, writing) == Summary()
    os.close(writing)


def test_a_reader_that_goes_ends_the_capture_even_without_frames(agent: Agent) -> None:
    reading, writing = os.pipe()

    def read_a_little() -> None:
        os.read(reading, 1)
        os.close(reading)

    reader = Thread(target=read_a_little)
    reader.start()
    agent.say(ANSWER)
    assert capture_live(agent.client, KnownDevices(), TAPS, writing) == Summary()
    reader.join()
    os.close(writing)


def test_a_disk_that_is_full_is_one_clear_error(agent: Agent) -> None:
    agent.say(ANSWER)
    with Path("/dev/full").open("wb") as file, pytest.raises(BadInput, match="No space left on device"):
        capture_live(agent.client, KnownDevices(), TAPS, file.fileno())


def test_every_beginning_that_was_written_is_a_capture(agent: Agent, tmp_path: Path) -> None:
    """A reader of the pipe sees frames as they come, not when the capture ends."""
    read_end, write_end = os.pipe()
    agent.say(ANSWER, stream(EARLY), stream(LATE))
    agent.hang_up()
    capture_live(agent.client, KnownDevices(), TAPS, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        written = file.read()
    frames: list[tuple[Frame, ...]] = []
    for end in block_ends(written):
        path = tmp_path / f"{end}.pcapng"
        path.write_bytes(written[:end])
        frames.append(read_capture(path).frames)
    assert [len(some) for some in frames] == sorted(len(some) for some in frames)
    assert len(frames[-1]) == 2


def block_ends(data: bytes) -> list[int]:
    ends, at = [], 0
    while at < len(data):
        at += int.from_bytes(data[at + 4 : at + 8], "little")
        ends.append(at)
    return ends
