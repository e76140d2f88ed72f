"""Labs come and go, in order and by force, and nothing of them is left; several stand side by side.

LVSLAB_LONG=1 runs as many rounds as a release deserves.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from lvslab.kernels.attach import running_labs
from lvslab.kernels.folder import LOCK, MARK
from tests.kernel.running_support import World, this_user
from tests.kernel.support import COMMAND

pytestmark = pytest.mark.kernel

LONG = bool(os.environ.get("LVSLAB_LONG"))
CYCLES = 50 if LONG else 12
KILLS = 100 if LONG else 9
LABS = 8
MEMORY = ("--memory", "128")


@dataclass(frozen=True)
class Home:
    """A folder for labs and one for temporary files, of a test's own."""

    world: World
    labs: Path
    temporary: Path

    def processes(self) -> list[int]:
        """Return all processes that have this home in their environment or among their words."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                said = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            except OSError:
                continue
            if f"{self.labs}/lvslab-".encode() in said:
                found.append(int(process.name))
        return found

    def left(self) -> dict[str, object]:
        """Return everything a lab could leave behind."""
        ours = [path.name for path in self.labs.iterdir() if path.name != LOCK]
        return {
            "processes": self.processes(),
            "folders": ours,
            "temporary files": [path.name for path in self.temporary.iterdir()],
            "shared memory": sorted(path.name for path in Path("/dev/shm").glob("*lvs*")),
            "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(self.labs) in line],
            "links": sorted(path.name for path in Path("/sys/class/net").iterdir()),
            "namespaces": sorted(path.name for path in Path("/run/netns").glob("*")),
        }


@pytest.fixture
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="lvsc-") as name:
        labs, temporary = Path(name, "labs"), Path(name, "tmp")
        labs.mkdir(mode=0o700)
        temporary.mkdir()
        environment = os.environ | {"LVSLAB_HOME": str(labs), "TMPDIR": str(temporary)}
        user = this_user()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LVSLAB_HOME", str(labs))
            yield Home(World(user.command, user.command, "", environment, user.folder), labs, temporary)


def test_cycles_leave_nothing(home: Home) -> None:
    before = home.left()
    for number in range(CYCLES):
        up = home.world.run("up", "dr", "--name", f"lab-{number}", *MEMORY)
        assert up.returncode == 0, up.stderr
        assert home.world.run("exec", "client", "--", "ping", "-c1", "-W5", "198.18.0.10").returncode == 0
        assert home.world.run("down").stdout == f"lab-{number} is down\n"
        assert home.left() == before


def kernel_of(home: Home) -> list[int]:
    return _pids(home, lambda words: words and MARK.encode() not in words and b"broker.py" not in words)


def broker_of(home: Home) -> list[int]:
    return _pids(home, lambda words: b"broker.py" in words)


def _pids(home: Home, wanted: Callable[[bytes], object]) -> list[int]:
    found = []
    for pid in home.processes():
        try:
            if wanted(Path(f"/proc/{pid}/cmdline").read_bytes()):
                found.append(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("victim", [kernel_of, broker_of])
def test_a_lab_that_is_killed_is_gone_and_its_name_is_free(home: Home, victim: Callable[[Home], list[int]]) -> None:
    before = home.left()
    for _ in range(2):
        assert home.world.run("up", "dr", *MEMORY).returncode == 0
        os.kill(victim(home)[0], signal.SIGKILL)
        while running_labs():
            pass
    assert home.world.run("down", "--all").returncode == 0
    assert home.world.run("clean").returncode == 0
    assert home.left() == before


def test_random_kills_on_the_way_up_leave_nothing(home: Home) -> None:
    chance = random.Random(3)
    before = home.left()
    for _ in range(KILLS):
        with subprocess.Popen(
            [COMMAND, "up", "dr", *MEMORY],
            env=dict(home.world.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as front:
            try:
                front.wait(chance.uniform(0.2, 3.5))
            except subprocess.TimeoutExpired:
                victim = chance.choice(["front", "interrupt", "broker", "kernel"])
                others = {"broker": broker_of, "kernel": kernel_of}.get(victim, lambda _: [])(home)
                for pid in others[:1] or [front.pid]:
                    try:
                        os.kill(pid, signal.SIGINT if victim == "interrupt" else signal.SIGKILL)
                    except ProcessLookupError:
                        continue
            assert front.stderr is not None
            assert b"Traceback" not in front.stderr.read()
        assert home.world.run("down", "--all").returncode == 0
        while broker_of(home):
            pass
        assert home.world.run("clean").returncode == 0
        assert home.left() == before


def test_a_topology_that_cannot_be_built_leaves_nothing(home: Home) -> None:
    before = home.left()
    for words in (["no-such-topology"], ["dr", "--memory", "99999999"], ["dr", "--name", "../dr"]):
        done = home.world.run("up", *words)
        assert done.returncode in (2, 3)
        assert done.stderr.count("\n") == 1, done.stderr
        assert home.left() == before


def test_two_of_one_name_at_once_give_one_lab(home: Home) -> None:
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: home.world.run("up", "dr", *MEMORY), range(2)))
    assert sorted(one.returncode for one in done) == [0, 2], [one.stderr for one in done]
    assert [record.name for record in running_labs()] == ["dr"]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: home.world.run("down", "dr"), range(2)))
    assert home.processes() == []


def test_nobody_else_may_enter(home: Home) -> None:
    assert home.world.run("up", "dr", *MEMORY).returncode == 0
    (record,) = running_labs()
    for path in (home.labs, record.path):
        assert path.stat().st_mode & 0o777 == 0o700
    assert home.world.run("down").returncode == 0


def test_a_record_that_makes_no_sense_is_no_lab(home: Home) -> None:
    assert home.world.run("up", "dr", *MEMORY).returncode == 0
    (record,) = running_labs()
    whole = (record.path / "lab.json").read_text()
    for garbage in ("", "[]", "{}", "null", '{"name": 5}', whole.replace('"begun": ', '"begun": "x" '), whole[:-9]):
        (record.path / "lab.json").write_text(garbage)
        assert home.world.run("ps").stdout.startswith("no lab is up")
    (record.path / "lab.json").write_text(whole.replace(str(record.path), "/etc"))
    assert [found.folder for found in running_labs()] == [str(record.path)]
    assert home.world.run("down").returncode == 0
    assert home.processes() == []


def test_eight_labs_side_by_side(home: Home, record_property: Callable[[str, object], None]) -> None:
    before = home.left()
    names = [f"lab-{number}" for number in range(LABS)]
    for name in names:
        up = home.world.run("up", "dr", "--name", name, *MEMORY)
        assert up.returncode == 0, up.stderr
    memory_kib = [_memory_kib(home, record.path) for record in running_labs()]
    record_property("memory_per_lab_kib", memory_kib)
    for name in names:
        done = home.world.run("exec", "--lab", name, "rs1", "--", "sh", "-c", f"echo {name} >/tmp/mine")
        assert done.returncode == 0, done.stderr
    for name in names:
        assert home.world.run("exec", "--lab", name, "rs1", "--", "cat", "/tmp/mine").stdout == f"{name}\n"
        assert home.world.run("exec", "--lab", name, "client", "--", "curl", "-sS", "http://vip/").returncode == 0
    assert home.world.run("exec", "rs1", "--", "true").returncode == 2
    assert home.world.run("down", "--all").stdout.split("\n")[:-1] == [f"{name} is down" for name in names]
    assert home.left() == before


def _memory_kib(home: Home, folder: Path) -> int:
    """Add up what the lab's processes share with no others, and their part of what they do (proc(5): Pss)."""
    total = 0
    for pid in home.processes():
        try:
            said = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        if str(folder).encode() in said:
            total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total
