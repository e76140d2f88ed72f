"""Virtual time: sleeping is free, nothing passes while nobody waits, and a run repeats to the last bit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lvslab.capture.dissect import dissect
from lvslab.capture.packet import Tcp
from lvslab.capture.pcapng import read_capture
from lvslab.kernels.calendar import START_NS
from lvslab.kernels.images import Origin, UmlImage, images
from lvslab.kernels.uml import has_virtual_time
from lvslab.lab import shipped_topologies
from tests.kernel.running_support import Terminal, World, this_user
from tests.kernel.support import lvslab, own_images

pytestmark = pytest.mark.kernel

START = datetime.fromtimestamp(START_NS / 10**9, UTC)
LAB = "virtual"
DAY_S = 86400
GOLDEN = Path(__file__).parents[1] / "golden" / "captures"
A_MOMENT = timedelta(seconds=2)
"""What the commands of these tests may let pass beside what is asked of them."""


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel_name(request: pytest.FixtureRequest) -> str:
    image = request.param
    assert isinstance(image, UmlImage)
    assert has_virtual_time(image)
    return f"uml:{image.release}"


@pytest.fixture
def world(kernel_name: str) -> Iterator[World]:
    found = this_user(kernel_name)
    done = found.run("up", "dr", "--name", LAB, "--kernel", kernel_name, "--time", "virtual")
    assert done.returncode == 0, done.stderr
    yield found
    found.run("down", LAB)


def now(world: World) -> datetime:
    text = world.run("exec", "--lab", LAB, "client", "--", "date", "-u", "+%s.%N").stdout
    return datetime.fromtimestamp(float(text), UTC)


def test_everything_shipped_passes(kernel_name: str) -> None:
    done = lvslab("verify", "--kernel", kernel_name, "--time", "virtual", "--json", "-")
    results = json.loads(done.stdout)["results"]
    assert {result["topology"]: result["verdict"] for result in results} == dict.fromkeys(shipped_topologies(), "pass")
    assert all(result["virtual_time"] for result in results)


@pytest.mark.parametrize("topology", shipped_topologies())
def test_the_same_lab_gives_the_same_capture_to_the_last_bit(kernel_name: str, topology: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.pcapng" for number in range(2)]
    for file in files:
        done = lvslab("verify", topology, "--kernel", kernel_name, "--time", "virtual", "--pcap", str(file))
        assert done.returncode == 0, done.stdout
    assert files[0].read_bytes() == files[1].read_bytes()


def seen(capture: Path) -> list[str]:
    """Return one line per frame, without what a clock that is a microsecond off would change: numbers drawn from it."""
    lines = []
    for frame in read_capture(capture).frames:
        packet = dissect(frame)
        parts = [f"{frame.where} {frame.direction}", *map(str, (packet.ethernet, packet.arp))]
        if packet.ip is not None:
            parts.append(str(packet.ip._replace(identification=0)))
        if isinstance(packet.transport, Tcp):
            tcp = packet.transport
            parts.append(f"{tcp.source_port} {tcp.destination_port} {tcp.flags}")
        lines.append(" ".join([*parts, packet.payload.hex()]))
    return lines


@pytest.mark.parametrize("topology", ["dr", "nat"])
def test_the_capture_is_the_one_that_is_kept(kernel_name: str, topology: str, tmp_path: Path) -> None:
    """After a wanted change ``UPDATE_GOLDEN=1`` keeps the new one; Wireshark opens it."""
    file, golden = tmp_path / "now.pcapng", GOLDEN / f"{topology}.pcapng"
    done = lvslab("verify", topology, "--kernel", kernel_name, "--time", "virtual", "--pcap", str(file))
    assert done.returncode == 0, done.stdout
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(file.read_bytes())
    assert seen(file) == seen(golden)


def test_in_real_time_two_captures_differ(kernel_name: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.pcapng" for number in range(2)]
    for file in files:
        assert lvslab("verify", "dr", "--kernel", kernel_name, "--pcap", str(file)).returncode == 0
    assert files[0].read_bytes() != files[1].read_bytes()


def test_the_clock_starts_on_its_date_and_stands_while_nobody_waits(world: World) -> None:
    first = now(world)
    assert START <= first < START + A_MOMENT
    time.sleep(3)
    assert first <= now(world) < first + A_MOMENT


def test_sleeping_is_free(world: World) -> None:
    before = now(world)
    done = world.run("exec", "--lab", LAB, "client", "--", "sleep", str(DAY_S // 24))
    assert done.returncode == 0
    assert timedelta(hours=1) <= now(world) - before < timedelta(hours=1) + A_MOMENT


def test_wait_moves_the_clock(world: World) -> None:
    before = now(world)
    done = world.run("wait", "--lab", LAB, "15m")
    said = re.search(r"15m later, (.*) UTC", done.stdout)
    assert said, done.stderr
    assert before + timedelta(minutes=15) <= now(world) < before + timedelta(minutes=15) + A_MOMENT
    assert datetime.fromisoformat(said[1]).replace(tzinfo=UTC) >= (before + timedelta(minutes=15)).replace(
        microsecond=0
    )


def connections(world: World) -> list[list[str]]:
    text = world.run("exec", "--lab", LAB, "director", "--", "ipvsadm", "-Lnc").stdout
    return [line.split() for line in text.splitlines()[2:]]


def test_a_connection_expires_when_its_time_has_come_and_not_before(world: World) -> None:
    """The kernel's own default: 15 minutes for one that is established (ipvsadm(8), --set)."""
    hold = "exec 3<>/dev/tcp/198.18.0.10/80; echo open; sleep 20000"
    opened = world.open_terminal("exec", "-t", "--lab", LAB, "client", "--", "bash", "-c", hold)
    try:
        opened.see("open")
        assert [entry[2] for entry in connections(world)] == ["ESTABLISHED"]
        assert world.run("wait", "--lab", LAB, "14m").returncode == 0
        ((_, left, *_),) = connections(world)
        assert left.startswith("00:"), left
        assert world.run("wait", "--lab", LAB, "90").returncode == 0
        assert connections(world) == []
    finally:
        opened.program.close(force=True)


def test_a_terminals_time_keeps_step_with_the_wall(world: World) -> None:
    terminal: Terminal = world.open_terminal("shell", "--lab", LAB, "client")
    terminal.see("client# ")
    before = time.monotonic()
    terminal.type("sleep 3; echo do''ne")
    terminal.see("done")
    assert time.monotonic() - before >= 2.9
    terminal.type("exit")
    assert terminal.status() == 0


def test_waiting_that_is_broken_off_leaves_the_clock_standing(world: World) -> None:
    with subprocess.Popen([*world.command, "wait", "--lab", LAB, "10d"], env=dict(world.environment)) as waiting:
        time.sleep(1)
        waiting.kill()
    first = now(world)
    time.sleep(2)
    assert first <= now(world) < first + A_MOMENT


def test_busy_waiting_is_found_out_and_ends_the_lab(world: World) -> None:
    done = world.run("exec", "--lab", LAB, "client", "--", "sh", "-c", "while :; do :; done")
    assert done.returncode == 3
    assert "waits busily" in done.stderr
    assert done.stderr.count("\n") == 1
    assert LAB not in world.run("ps").stdout


@pytest.mark.parametrize("duration", ["", "x", "-5", "0", "5w", "1e3", "1000d", "11d"])
def test_what_is_no_duration_is_refused(duration: str) -> None:
    done = lvslab("wait", duration)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 or "Usage" in done.stderr


def test_a_kernel_without_virtual_time_says_so() -> None:
    (installed,) = (image for image in images() if image.origin is Origin.INSTALLED)
    done = lvslab("verify", "dr", "--kernel", f"uml:{installed.release}", "--time", "virtual")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "this kernel has no virtual time" in done.stderr
