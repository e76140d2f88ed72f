"""What a student does inside a node stays there: the host's files are read, and never written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lvslab.kernels.attach import find_lab
from lvslab.kernels.images import find_image
from tests.kernel.running_support import World, this_user

pytestmark = pytest.mark.kernel

LAB = "isolation"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    if find_image() is None:
        pytest.skip("User-Mode Linux is not installed")
    found = this_user()
    up = found.run("up", "dr", "--name", LAB, "--kernel", "uml")
    assert up.returncode == 0, up.stderr
    yield found
    assert found.run("down", LAB).returncode == 0


@pytest.fixture
def precious() -> Iterator[Path]:
    """A folder of the host that nodes can see, with a file in it."""
    with tempfile.TemporaryDirectory(prefix="lvsi-") as name:
        (Path(name) / "thesis").write_text("years of work")
        yield Path(name)


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf {0}; test ! -e {0}/thesis",
        "echo nothing >{0}/thesis",
        "mv {0}/thesis {0}/gone",
        "chmod 0 {0}/thesis; truncate -s 0 {0}/thesis",
        "ln -sf /etc/passwd {0}/thesis",
        "touch {0}/new; mkdir {0}/folder; mknod {0}/null c 1 3",
        "mount -o remount,rw / 2>/dev/null; rm -f {0}/thesis",
    ],
)
def test_nothing_done_in_a_node_changes_the_hosts_files(world: World, precious: Path, script: str) -> None:
    before = precious.stat().st_mtime_ns, (precious / "thesis").stat()
    seen = world.run("exec", "--lab", LAB, "rs1", "--", "cat", str(precious / "thesis"))
    world.run("exec", "--lab", LAB, "rs1", "--", "sh", "-c", script.format(precious))
    assert [path.name for path in precious.iterdir()] == ["thesis"]
    assert (precious / "thesis").read_text() == "years of work"
    assert (before[0], before[1].st_mode) == (precious.stat().st_mtime_ns, (precious / "thesis").stat().st_mode)
    assert seen.stdout == "years of work"


def test_only_the_labs_own_folder_is_shared(world: World) -> None:
    share = find_lab(LAB).path / "share"
    done = world.run("exec", "--lab", LAB, "rs1", "--", "sh", "-c", f"echo hello >'{share}/a name with spaces'; sync")
    assert done.returncode == 0, done.stderr
    assert (share / "a name with spaces").read_text() == "hello\n"


@pytest.mark.parametrize(
    "script", ["ps aux", "cat <(echo there)", "echo there >/dev/stdout", "uptime", "sysctl -n kernel.hostname"]
)
def test_a_node_is_machine_enough_for_everyday_programs(world: World, script: str) -> None:
    done = world.run("exec", "--lab", LAB, "rs1", "--", "bash", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_folder_that_is_shared_can_be_written(world: World, precious: Path) -> None:
    up = world.run("up", "dr", "--name", "sharing", "--kernel", "uml", "--share", str(precious))
    assert up.returncode == 0, up.stderr
    try:
        script = f"tcpdump -i lo -c 1 -w {precious}/seen.pcap >/dev/null 2>&1 & sleep 1; ping -c 1 127.0.0.1; wait"
        done = world.run("exec", "--lab", "sharing", "rs1", "--", "sh", "-c", script)
        assert done.returncode == 0, done.stderr
        assert (precious / "seen.pcap").stat().st_size > 0
        assert (precious / "thesis").read_text() == "years of work"
    finally:
        world.run("down", "sharing")


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("/no/such/folder", "this folder cannot be shared"),
        ("/etc/passwd", "this folder cannot be shared"),
        ("/", "this is too much to share"),
        (str(Path.home()), "this is too much to share"),
    ],
)
def test_what_may_not_be_shared(world: World, folder: str, said: str) -> None:
    done = world.run("up", "dr", "--name", "sharing", "--kernel", "uml", "--share", folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
