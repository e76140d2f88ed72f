"""`lvslab capture`: live packets of a lab that is up, read by tcpdump and tshark."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from lvslab.capture.pcapng import read_capture
from lvslab.kernels.attach import LabRecord, find_lab
from lvslab.lab import Lab
from lvslab.running import attached
from lvslab.topology import load_topology
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S, lvslab

pytestmark = pytest.mark.kernel

NAME = "captured"
VIP = next(str(service.vip) for service in load_topology("dr").services)
ROUTER = "203.0.113.1"
DATAGRAMS = 8000
DATAGRAM_BYTES = 1400
"""Together more than a ring, all that may be under way, and a pipe hold."""
FLOOD = f"""
import socket
channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
channel.bind(("", 40000))
channel.connect(("{ROUTER}", 9))
for number in range({DATAGRAMS}):
    try:
        channel.send(bytes({DATAGRAM_BYTES}))
    except ConnectionRefusedError:
        pass
"""


@pytest.fixture(scope="module")
def record(kernel_kind: str) -> Iterator[LabRecord]:
    done = lvslab("up", "dr", "--name", NAME, "--kernel", kernel_kind)
    assert done.returncode == 0, done.stderr
    yield find_lab(NAME)
    assert lvslab("down", NAME).returncode == 0


@pytest.fixture
def lab(record: LabRecord) -> Iterator[Lab]:
    with attached(record) as lab:
        yield lab


class Running:
    """A capture that has begun."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; return the exit status and what was said on stderr."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode()
        return self.process.wait(COMMAND_TIMEOUT_S), said


@contextmanager
def capturing(*words: str | Path, output: int | IO[bytes] | None = None) -> Iterator[Running]:
    argv = [str(COMMAND), "capture", "--lab", NAME, *map(str, words)]
    process = subprocess.Popen(argv, stdout=output, stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        first = process.stderr.readline().decode()
        if not first.startswith("lvslab: capturing"):
            pytest.fail(first + process.stderr.read().decode())
        yield Running(process)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def curl(lab: Lab) -> None:
    done = lab.node("client").run("curl", "-sS", f"http://{VIP}/")
    assert done.status == 0, done.output


def captured(said: str) -> tuple[int, int]:
    """Return the numbers of frames and of losses that a capture gave at its end."""
    found = re.search(r"^lvslab: (\d+) frames captured, (\d+) dropped by the kernel", said, re.MULTILINE)
    assert found, said
    return int(found[1]), int(found[2])


def tshark(path: Path, *words: str) -> list[str]:
    done = subprocess.run(["tshark", "-r", path, *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tcpdump_shows_packets_while_they_pass(lab: Lab) -> None:
    """It ends by itself at the SYN, and the capture because nobody reads it any longer."""
    reading, writing = os.pipe()
    argv = ["tcpdump", "-n", "-l", "-r", "-", "-c", "1", f"dst host {VIP} and tcp[tcpflags] == tcp-syn"]
    with capturing("director", "-w", "-", output=writing) as capture:
        os.close(writing)
        with subprocess.Popen(argv, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tcpdump:
            os.close(reading)
            while tcpdump.poll() is None:
                curl(lab)
            assert tcpdump.stdout is not None
            line = tcpdump.stdout.read().decode()
        status, said = capture.wait()
    assert f"> {VIP}.80: Flags [S]" in line
    assert status == 0, said


def test_two_captures_and_a_recording_see_the_same(lab: Lab, tmp_path: Path) -> None:
    """And each frame is where the recording has it, in the same order."""
    one, other = tmp_path / "one.pcapng", tmp_path / "other.pcapng"
    with capturing("-w", one) as first, capturing("director", "-w", other) as second:
        with lab.record() as recording:
            curl(lab)
        ends = [first.end(), second.end()]
    assert [status for status, _ in ends] == [0, 0]
    whole = recording.finished()
    calls = [(frame.where, frame.time_ns, frame.data) for frame in whole.frames]
    seen = [(frame.where, frame.time_ns, frame.data) for frame in read_capture(one).frames]
    at_director = [(frame.where, frame.time_ns, frame.data) for frame in read_capture(other).frames]
    assert not [where for where, _, _ in at_director if not where.startswith("director:")]
    assert len([call for call in calls if call[0] == "client:eth0"]) >= 10
    assert without_stamps(calls) == [one for one in without_stamps(seen) if one in set(without_stamps(calls))]
    assert set(without_stamps([c for c in calls if c[0].startswith("director:")])) <= set(without_stamps(at_director))


def without_stamps(frames: Sequence[tuple[str, int, bytes]]) -> list[tuple[str, bytes]]:
    """Each ring stamps a frame for itself."""
    return [(where, data) for where, _, data in frames]


def test_a_capture_is_in_order_of_time_and_tshark_reads_it(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "all.pcapng"
    with capturing("-w", path) as capture:
        for _ in range(5):
            curl(lab)
        status, said = capture.end()
    fields = tshark(path, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name")
    times = [line.split("\t")[0] for line in fields]
    assert status == 0
    assert captured(said) == (len(fields), 0)
    assert times == sorted(times)
    assert {"client:eth0", "router:eth0", "director:eth0", "rs1:eth0"} <= {line.split("\t")[1] for line in fields}


def test_one_interface_is_heard_alone(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "one.pcapng"
    with capturing("router:eth1", "-w", path) as capture:
        curl(lab)
        capture.end()
    frames = read_capture(path).frames
    assert {frame.where for frame in frames} == {"router:eth1"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_capture_without_frames_is_a_whole_file(number: signal.Signals, record: LabRecord, tmp_path: Path) -> None:
    path = tmp_path / "none.pcapng"
    with capturing("rs1:lo", "-w", path) as capture:
        status, said = capture.end(number)
    assert (status, captured(said)) == (0, (0, 0))
    assert tshark(path) == []
    subprocess.run(["tcpdump", "-r", path], check=True, capture_output=True)


def test_a_capture_stops_at_the_wanted_number(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "three.pcapng"
    with capturing("client", "-c", "3", "-w", path) as capture:
        curl(lab)
        status, said = capture.wait()
    assert (status, captured(said)[0], len(tshark(path))) == (0, 3, 3)


def test_a_slow_reader_loses_frames_and_stalls_nobody(lab: Lab, tmp_path: Path) -> None:
    """The pipe is not read until others have worked in the lab; what was lost is then told in full."""
    reading, writing = os.pipe()
    path = tmp_path / "slow.pcapng"
    with capturing("client:eth0", "-w", "-", output=writing) as capture:
        os.close(writing)
        with lab.record() as recording:
            done = lab.node("client").run("python3", "-I", "-S", "-c", FLOOD, timeout_s=COMMAND_TIMEOUT_S)
            assert done.status == 0, done.output
            curl(lab)
        assert lvslab("exec", "--lab", NAME, "rs1", "--", "true").returncode == 0
        capture.process.send_signal(signal.SIGINT)
        with os.fdopen(reading, "rb") as slow:
            path.write_bytes(slow.read())
        status, said = capture.wait()
    frames, dropped = captured(said)
    sent = [frame for frame in recording.finished().frames if frame.where == "client:eth0"]
    assert status == 0
    assert dropped > 0
    assert frames == len(tshark(path))
    assert frames + dropped >= len(sent) >= DATAGRAMS
    assert read_capture(path).drops == {"client": dropped}


def test_an_interface_that_goes_down_and_one_that_is_new_are_no_trouble(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "new.pcapng"
    script = """
        ip link set lo down; ip link set lo up
        ip link add seen type dummy; ip link set seen up
        ip address add 192.0.2.77/24 dev seen; ping -c 1 -W 1 192.0.2.78; ip link del seen; true
    """
    with capturing("rs2", "-w", path) as capture, capturing("rs2:lo", "-w", tmp_path / "lo.pcapng") as down:
        done = lab.node("rs2").run("sh", "-c", script)
        assert done.status == 0, done.output
        assert down.end()[0] == 0
        status, said = capture.end()
    assert status == 0, said
    assert len([frame for frame in read_capture(path).frames if frame.interface not in ("lo", "eth0")]) > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody", "-w", "x"], "no such node: expected one of client, router, director, rs1, rs2, found nobody"),
        (["rs1:eth9", "-w", "x"], "rs1: no such interface: expected one of lo, "),
        (["rs1", "-w", "/none/x"], "/none/x: cannot write here: found No such file or directory"),
        (["rs1"], "Missing option '-w' / '--write'"),
    ],
    ids=["node", "interface", "folder", "no file"],
)
def test_what_cannot_be_captured_is_said(words: list[str], message: str, record: LabRecord) -> None:
    done = lvslab("capture", "--lab", NAME, *words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_a_terminal_is_no_place_for_a_capture(record: LabRecord) -> None:
    master, slave = os.openpty()
    argv = [str(COMMAND), "capture", "--lab", NAME, "-w", "-"]
    done = subprocess.run(argv, check=False, stdout=slave, stderr=subprocess.PIPE, text=True)
    os.close(slave)
    os.close(master)
    assert done.returncode == 2
    assert "standard output: a capture is not for a terminal; pipe it into tcpdump" in done.stderr


def test_a_lab_that_ends_leaves_a_whole_file(kernel_kind: str, tmp_path: Path) -> None:
    path = tmp_path / "ended.pcapng"
    assert lvslab("up", "dr", "--name", "ending", "--kernel", kernel_kind).returncode == 0
    with attached(find_lab("ending")) as lab, capturing("--lab", "ending", "-w", path) as capture:
        while not read_capture(path).frames:
            curl(lab)
        assert lvslab("down", "ending").returncode == 0
        status, said = capture.wait()
    assert status == 3
    assert "frames captured\nlvslab: the lab was stopped; see lvslab ps" in said
    assert tshark(path)
