"""Labs come and go, in order and by force, and nothing of them is left; several stand side by side.

LVSLAB_LONG=1 runs as many rounds as a release deserves.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from lvslab.kernels.attach import running_labs
from tests.kernel.running_support import Home, own_home, started

pytestmark = pytest.mark.kernel

LONG = bool(os.environ.get("LVSLAB_LONG"))
CYCLES = 50 if LONG else 12
KILLS = 100 if LONG else 9
LABS = 8
MEMORY = ("--memory", "128")


@pytest.fixture
def home() -> Iterator[Home]:
    with own_home() as found:
        yield found


def test_cycles_leave_nothing(home: Home) -> None:
    before = home.left()
    for number in range(CYCLES):
        up = home.world.run("up", "dr", "--name", f"lab-{number}", *MEMORY)
        assert up.returncode == 0, up.stderr
        assert home.world.run("exec", "client", "--", "ping", "-c1", "-W5", "198.18.0.10").returncode == 0
        assert home.world.run("down").stdout == f"lab-{number} is down\n"
        assert home.left() == before


def kernel_of(home: Home) -> list[int]:
    """The kernel's first process: User-Mode Linux, or the agent's parent outside of its namespaces."""
    return sorted(_pids(home, lambda words: any(part in words for part in (b"linux", b"native.py"))))


def agent_of(home: Home) -> list[int]:
    """What the agent is to the host: the first process a User-Mode Linux kernel traces, or the agent itself."""
    kernel, *others = kernel_of(home) or [0]
    traced = [pid for pid in others if _status(pid, "TracerPid") == kernel]
    return traced or [pid for pid in others if _status(pid, "PPid") == kernel]


def broker_of(home: Home) -> list[int]:
    return _pids(home, lambda words: b"broker.py" in words)


def _status(pid: int, field: str) -> int:
    """Return a number from /proc/PID/status; -1 if the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return -1
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


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


VICTIMS = ("front", "interrupt", "hang-up", "broker", "kernel", "agent", "down")


def strike(home: Home, victim: str, front: subprocess.Popen[str]) -> None:
    """Kill a part of the lab if it is there, else whoever waits for it; or take the lab down."""
    signals = {"interrupt": signal.SIGINT, "hang-up": signal.SIGHUP}
    parts = {"broker": broker_of, "kernel": kernel_of, "agent": agent_of}
    if victim == "down":
        assert home.world.run("down", "--all").returncode == 0
        return
    for pid in parts.get(victim, lambda _: [])(home)[:1] or [front.pid]:
        with suppress(ProcessLookupError):
            os.kill(pid, signals.get(victim, signal.SIGKILL))


def time_up_s(home: Home) -> float:
    """Bring a lab up and take it down; return how long the first took."""
    begun = time.monotonic()
    assert home.world.run("up", "dr", *MEMORY).returncode == 0
    taken_s = time.monotonic() - begun
    assert home.world.run("down").returncode == 0
    return taken_s


def has_ended(process: subprocess.Popen[str], moment_s: float) -> bool:
    """Wait so long; return whether the process has ended by then."""
    try:
        process.wait(moment_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def test_random_kills_leave_nothing(home: Home) -> None:
    """On the way up, and afterwards while somebody uses the lab."""
    seed = int(os.environ.get("LVSLAB_TEST_SEED", random.randrange(1 << 32)))
    chance = random.Random(seed)
    before = home.left()
    way_up_s = min(time_up_s(home) for _ in range(3))
    for number in range(KILLS):
        victim, moment_s = VICTIMS[number % len(VICTIMS)], chance.uniform(0.05, 1.6 * way_up_s)
        print(f"LVSLAB_TEST_SEED={seed}: {victim} after {moment_s:.3f} s")  # noqa: T201 - to repeat a failure
        with started(home, "up", "dr", *MEMORY) as front:
            if has_ended(front, moment_s):
                with started(home, "exec", "client", "--", "sleep", "1000") as user:
                    has_ended(user, chance.uniform(0, way_up_s))
                    strike(home, victim, user)
                    said = user.communicate()[1]
            else:
                strike(home, victim, front)
                said = front.communicate()[1]
        assert "Traceback" not in said
        assert len(list(filter(None, said.splitlines()))) <= 1, said
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
