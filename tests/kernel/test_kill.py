"""However a lab ends, nothing of it is left: no process, folder, mount, namespace, link or temporary file."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from lvslab.kernels.folder import LOCK
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB, memory_folder
from tests.kernel.support import COMMAND, lvslab

pytestmark = pytest.mark.kernel

SEED = int(os.environ.get("LVSLAB_TEST_SEED", random.randrange(1 << 32)))
KILLS = 20
LONGEST_MOMENT_S = 2.6
"""About as long as `lvslab verify dr` runs: some kills come before there is a lab, some after the verdict."""
GONE_IN_S = 30.0
ENDS_IN_S = 60.0
"""Stops for what hangs; no test is about how long something takes."""


@dataclass(frozen=True)
class Machine:
    """What a lab might leave on the host, as far as it can be told from other people's."""

    processes: tuple[str, ...]
    folders: tuple[str, ...]
    mounts: tuple[str, ...]
    links: frozenset[str]


def ours(home: Path) -> dict[int, str]:
    """Return the processes, zombies aside, that have `home` in their arguments, environment or working directory."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            texts = [
                (entry / "cmdline").read_bytes(),
                (entry / "environ").read_bytes(),
                os.fsencode((entry / "cwd").readlink()),
            ]
            if any(str(home).encode() in text for text in texts):
                found[int(entry.name)] = texts[0].replace(b"\0", b" ").decode(errors="replace")[:120]
    return found


def look(home: Path) -> Machine:
    return Machine(
        tuple(ours(home).values()),
        tuple(sorted(entry.name for entry in home.iterdir() if entry.name != LOCK)),
        tuple(line for line in Path("/proc/self/mountinfo").read_text().splitlines() if home.name in line),
        frozenset(entry.name for entry in Path("/sys/class/net").iterdir()),
    )


def eventually(condition: Callable[[], object]) -> bool:
    """Wait until `condition` holds; return whether it came to that."""
    deadline = time.monotonic() + GONE_IN_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of the test's own, where the guest's memory goes too."""
    with tempfile.TemporaryDirectory(prefix="lvsk-", dir=memory_folder(DEFAULT_MEMORY_MIB)) as path:
        monkeypatch.setenv("TMPDIR", path)
        yield Path(path)


@pytest.fixture
def home(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for labs of the test's own, in which nothing may be left, nor anything elsewhere."""
    path = tmp_path / "labs"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("LVSLAB_HOME", str(path))
    before = look(path)
    yield path
    assert look(path) == before
    assert not list(temporary.iterdir())


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command line in a process group of its own, as a shell does."""
    process = subprocess.Popen(
        [COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def processes_named(home: Path, word: str) -> list[int]:
    return [pid for pid, command in ours(home).items() if word in command]


def the_lab(home: Path) -> Path:
    """Wait for the one lab and return its folder."""
    assert eventually(lambda: list(home.glob("lvslab-*")))
    return next(home.glob("lvslab-*"))


def wait_until(moment: str, home: Path) -> None:
    """Wait until a lab that has just been started has come so far."""
    lab = the_lab(home)
    match moment:
        case "boot":
            assert eventually(lambda: processes_named(home, "linux"))
        case "traffic":
            assert eventually(lambda: list(lab.glob("share/spool-*")))


def test_what_a_running_lab_is_would_be_seen(home: Path) -> None:
    """Otherwise the comparisons below would pass whatever was left."""
    before = look(home)
    with running("verify", "dr") as front:
        wait_until("boot", home)
        during = look(home)
        front.communicate(timeout=ENDS_IN_S)
    assert during.folders != before.folders
    assert [
        word for word in ("lvslab", "broker.py", "linux") if not any(word in text for text in during.processes)
    ] == []


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_at_a_random_moment(home: Path, number: int) -> None:
    moment = random.Random(SEED + number).uniform(0.05, LONGEST_MOMENT_S)
    print(f"LVSLAB_TEST_SEED={SEED}: kill -9 after {moment:.3f} s")  # noqa: T201 - to repeat a failure
    with running("verify", "dr") as front, suppress(subprocess.TimeoutExpired):
        front.wait(moment)
    assert lvslab("clean").returncode == 0
    assert eventually(lambda: not ours(home)), ours(home)


@pytest.mark.parametrize("victim", ["broker.py", "linux"], ids=["broker", "kernel"])
@pytest.mark.parametrize("moment", ["boot", "traffic"])
def test_a_killed_part_is_told_in_one_line_and_cleaned_up_at_once(home: Path, victim: str, moment: str) -> None:
    with running("verify", "dr") as front:
        wait_until(moment, home)
        os.kill(min(processes_named(home, victim)), signal.SIGKILL)
        _, said = front.communicate(timeout=ENDS_IN_S)
    assert front.returncode == 3
    lines = [line for line in said.splitlines() if line.startswith("lvslab: ")]
    expected = {"broker.py": "the lab's broker is gone", "linux": "the kernel ended (killed by SIGKILL)"}[victim]
    assert len(lines) == 1
    assert lines[0].startswith(f"lvslab: {expected}")
    assert "run the command again" in lines[0]
    assert "Traceback" not in said


def test_a_guest_out_of_memory_is_told_with_the_cure(home: Path) -> None:
    done = lvslab("verify", "dr", "--memory", "96", "--set", "real_servers=256", "--kernel", "uml")
    assert done.returncode == 3
    assert "System is deadlocked on memory" in done.stderr
    assert "(--memory)" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_killed_all_at_once(home: Path) -> None:
    """Front and broker together: only the next command can clean up."""
    with running("verify", "dr") as front:
        wait_until("boot", home)
        broker = processes_named(home, "broker.py")
        front.kill()
        for pid in broker:
            os.kill(pid, signal.SIGKILL)
    assert list(home.glob("lvslab-*"))
    cleaned = lvslab("clean")
    assert cleaned.returncode == 0
    assert cleaned.stdout.startswith("removed lvslab-verify-")


def test_the_next_verify_cleans_up_as_well(home: Path) -> None:
    with running("verify", "dr") as front:
        wait_until("boot", home)
        broker = processes_named(home, "broker.py")
        front.kill()
        for pid in broker:
            os.kill(pid, signal.SIGKILL)
    dead = the_lab(home)
    assert lvslab("verify", "dr").returncode == 0
    assert not dead.exists()


@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("moment", ["folder", "boot", "traffic"])
def test_control_c(home: Path, moment: str, presses: int) -> None:
    with running("verify", "dr") as front:
        wait_until(moment, home)
        for _ in range(presses):
            os.killpg(front.pid, signal.SIGINT)
        output, said = front.communicate(timeout=ENDS_IN_S)
    assert front.returncode == 130
    assert said.split("\n")[-2:] == ["lvslab: interrupted", ""]
    assert [line for line in said.splitlines() if line] == ["lvslab: interrupted"]
    assert output == ""
    assert eventually(lambda: not list(home.glob("lvslab-*")) and not ours(home))


def our_code_runs(pid: int) -> bool:
    """Tell whether Python has begun, which ignores SIGPIPE, and put its own handler of SIGINT aside, as we do first.

    Before that it is Python's to say something of an interruption. The masks: proc(5), SigIgn and SigCgt.
    """
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    masks = {
        name: int(mask, 16) for name, mask in (line.split() for line in lines if line.startswith(("SigIgn", "SigCgt")))
    }
    return has(masks["SigIgn:"], signal.SIGPIPE) and not has(masks["SigCgt:"], signal.SIGINT)


def has(mask: int, number: int) -> bool:
    return bool(mask & 1 << (number - 1))


@pytest.mark.parametrize("moment_s", [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
def test_control_c_from_the_first_of_our_code_on_shows_no_traceback(home: Path, moment_s: float) -> None:
    with running("verify", "dr") as front:
        # Asked twice: between the one and the other that Python sets as it begins there is a moment as well.
        assert eventually(lambda: our_code_runs(front.pid) and our_code_runs(front.pid))
        time.sleep(moment_s)
        os.killpg(front.pid, signal.SIGINT)
        _, said = front.communicate(timeout=ENDS_IN_S)
    assert front.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in said
    assert eventually(lambda: not list(home.glob("lvslab-*")) and not ours(home))


def test_control_c_in_a_terminal(home: Path) -> None:
    """The terminal itself sends the signal: what shares its session gets it, and the broker must not."""
    pid, terminal = os.forkpty()
    if pid == 0:
        os.execv(COMMAND, [str(COMMAND), "verify", "dr"])
    try:
        wait_until("boot", home)
        os.write(terminal, b"\x03")
        said = read_terminal(terminal)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert said.count("lvslab: interrupted") == 1
    assert "Traceback" not in said
    assert eventually(lambda: not list(home.glob("lvslab-*")) and not ours(home))


def read_terminal(terminal: int) -> str:
    """Read until the other end is closed."""
    said = b""
    with suppress(OSError):
        while select.select([terminal], [], [], ENDS_IN_S)[0]:
            said += os.read(terminal, 1 << 16)
    return said.decode(errors="replace")


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [(signal.SIGTERM, 128 + signal.SIGTERM, "lvslab: terminated\n"), (signal.SIGHUP, -signal.SIGHUP, "")],
    ids=["SIGTERM", "SIGHUP"],
)
def test_a_front_that_is_told_to_end_leaves_nothing(
    home: Path, number: signal.Signals, status: int, words: str
) -> None:
    with running("verify", "dr") as front:
        wait_until("boot", home)
        front.send_signal(number)
        _, said = front.communicate(timeout=ENDS_IN_S)
    assert (front.returncode, said) == (status, words)
    assert eventually(lambda: not list(home.glob("lvslab-*")) and not ours(home))


def test_two_at_once_and_clean_leaves_both_alone(home: Path) -> None:
    with running("verify", "dr") as first, running("verify", "nat") as second:
        assert eventually(lambda: len(list(home.glob("lvslab-*"))) == 2)
        assert lvslab("clean").stdout.startswith("nothing to remove")
        for process in (first, second):
            output, said = process.communicate(timeout=ENDS_IN_S)
            assert process.returncode == 0, output + said


def test_a_guest_process_has_no_descriptor_of_ours_but_its_line(home: Path) -> None:
    leaked, inheritable = os.pipe()
    os.set_inheritable(inheritable, True)
    try:
        with subprocess.Popen([COMMAND, "verify", "dr"], close_fds=False, stdout=subprocess.DEVNULL) as front:
            wait_until("traffic", home)
            kernel = min(processes_named(home, "linux"))
            targets = {str(entry.readlink()) for entry in Path(f"/proc/{kernel}/fd").iterdir()}
            environment = Path(f"/proc/{kernel}/environ").read_bytes()
            front.wait(ENDS_IN_S)
    finally:
        os.close(inheritable)
        os.close(leaked)
    assert not [target for target in targets if target.endswith(f"/{LOCK}") or target.startswith("pipe:")]
    assert b"PYTEST_CURRENT_TEST" not in environment


def test_an_ordinary_folder_is_never_touched(home: Path) -> None:
    (home / "mine").mkdir()
    (home / "mine" / "file").write_text("precious")
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("precious")
    dead = home / "lvslab-verify-0123abcd"
    dead.mkdir()
    (dead / "link").symlink_to(elsewhere)
    (home / "lvslab-verify-4567cdef").symlink_to(elsewhere)
    assert lvslab("clean").stdout == "removed lvslab-verify-0123abcd\n"
    assert (home / "mine" / "file").read_text() == "precious"
    assert (elsewhere / "file").read_text() == "precious"
    (home / "mine" / "file").unlink()
    (home / "mine").rmdir()
    (home / "lvslab-verify-4567cdef").unlink()
