"""What may go wrong around a lab that stays has an outcome of its own: one clear line, nothing left, nothing lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lvslab.kernels.attach import RECORD, labs, running_labs
from lvslab.kernels.folder import JOURNAL, LOCK, SOCKET, SOCKET_AHEAD, read_journal, write_journal
from tests.kernel.running_support import Home, Terminal, World, own_home, started
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S
from tests.kernel.test_ordinary_user import copy_packages

pytestmark = pytest.mark.kernel

MEMORY = ("--memory", "128")
UP = ("up", "dr", *MEMORY)


@pytest.fixture
def home() -> Iterator[Home]:
    """A folder for labs in which nothing is left."""
    with own_home() as found:
        before = found.left()
        yield found
        assert found.world.run("down", "--all").returncode == 0
        assert found.left() == before


@pytest.fixture
def lab(home: Home) -> Home:
    """A folder in which the lab `dr` is up."""
    up = home.world.run(*UP)
    assert up.returncode == 0, up.stderr
    return home


def one_line(said: str) -> str:
    """Return the one line that was said, without its mark; click puts an empty one after the terminal's ^C."""
    assert "Traceback" not in said
    (line,) = filter(None, said.splitlines())
    assert line.startswith("lvslab: ")
    return line.removeprefix("lvslab: ")


def appears(home: Home, pattern: str, process: subprocess.Popen[str]) -> None:
    """Wait until a file has appeared below the folder for labs."""
    while not list(home.labs.glob(pattern)):
        assert process.poll() is None, process.communicate()


ON_THE_WAY = {
    "record": f"*/{RECORD}",
    "broker": f"*/{SOCKET_AHEAD}",
    "kernel's log": "*/kernel.log",
    "first node": f"*/{SOCKET_AHEAD}",
}


@pytest.mark.parametrize("moment", ON_THE_WAY)
def test_down_during_up_ends_it(home: Home, moment: str) -> None:
    with started(home, *UP) as up:
        appears(home, ON_THE_WAY[moment], up)
        down = home.world.run("down", "dr")
        said = up.communicate()[1]
    assert (down.returncode, down.stdout) == (0, "dr is down\n"), down.stderr
    assert up.returncode == 3
    assert "the lab was stopped" in one_line(said)


def test_a_lab_that_is_coming_up_is_listed_and_cannot_be_used_yet(home: Home) -> None:
    with started(home, *UP) as up:
        appears(home, f"*/{RECORD}", up)
        os.kill(up.pid, signal.SIGSTOP)
        listed, used, second = home.world.run("ps"), home.world.run("exec", "rs1", "true"), home.world.run(*UP)
        os.kill(up.pid, signal.SIGCONT)
        assert up.communicate()[1] == ""
    assert listed.stdout.endswith("topology dr, coming up\n")
    assert (used.returncode, one_line(used.stderr)) == (
        2,
        "dr: the lab is not up yet; wait for the lvslab up that builds it",
    )
    assert second.returncode == 2
    assert "a lab of this name is up already, or coming up" in one_line(second.stderr)


@pytest.mark.parametrize("number", range(6))
def test_control_c_on_the_way_up(home: Home, number: int) -> None:
    """From the command's first moment on; or the lab is up, and stays."""
    with started(home, *UP) as up:
        if number:
            appears(home, "lvslab-*", up)
        try:
            up.wait(random.Random(number).uniform(0.1, 2.0))
        except subprocess.TimeoutExpired:
            up.send_signal(signal.SIGINT)
        said = up.communicate()[1]
    if up.returncode == 130:
        assert one_line(said) == "interrupted"
        assert labs() == ()
    else:
        assert (up.returncode, said) == (0, "")
        assert [record.name for record in running_labs()] == ["dr"]


def test_a_terminal_that_is_closed_while_a_lab_comes_up_takes_it_along(home: Home) -> None:
    terminal = home.world.open_terminal(*UP)
    while not list(home.labs.glob(f"*/{RECORD}")):
        assert terminal.program.isalive()
    terminal.program.close()
    while home.processes():
        pass


def test_a_terminal_that_is_closed_leaves_the_lab_and_ends_what_ran_in_it(lab: Home) -> None:
    terminal = shell(lab, "rs1")
    terminal.type("trap 'touch /tmp/hung-up' HUP; sleep 1000 & cat")
    terminal.type("here we are")
    terminal.see("here we are", "here we are")
    terminal.program.close()
    assert lab.world.run("exec", "rs1", "--", "sh", "-c", "while [ ! -e /tmp/hung-up ]; do :; done").returncode == 0
    assert lab.world.run("exec", "rs1", "--", "sh", "-c", "while pgrep -x cat; do :; done >/dev/null").returncode == 0


def shell(home: Home, node: str) -> Terminal:
    terminal = home.world.open_terminal("shell", node)
    terminal.see(f"{node}# ")
    return terminal


OVERWRITE_THE_AGENT = """
with open("/proc/1/maps") as maps, open("/proc/1/mem", "r+b", buffering=0) as memory:
    for line in maps:
        if " r-xp " in line and "[" not in line:
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            memory.seek(begin)
            memory.write(bytes(end - begin))
"""
"""No signal from inside ends process 1 (kill(2)); one that it causes itself does."""


def test_an_agent_that_dies_takes_its_lab_along(lab: Home) -> None:
    with started(lab, "exec", "rs2", "--", "cat") as bystander:
        done = lab.world.run("exec", "rs1", "--", "python3", "-c", OVERWRITE_THE_AGENT)
        said = bystander.communicate()[1]
    for status, text in ((done.returncode, done.stderr), (bystander.returncode, said)):
        assert status == 3
        assert "the kernel ended" in one_line(text)
        assert "lvslab up starts it again" in text
    assert labs() == ()
    up = lab.world.run(*UP)
    assert up.returncode == 0, up.stderr


STUBBORN = "trap '' TERM HUP INT QUIT; touch /tmp/stubborn; while :; do sleep 1; done"


def test_a_program_that_ignores_every_signal_goes_down_with_the_lab(lab: Home) -> None:
    for script in (STUBBORN, f'setsid nohup sh -c "{STUBBORN}" >/dev/null 2>&1 &'):
        with started(lab, "exec", "rs1", "--", "sh", "-c", script):
            done = lab.world.run("exec", "rs1", "--", "sh", "-c", "while [ ! -e /tmp/stubborn ]; do :; done")
            assert done.returncode == 0
    assert lab.world.run("down").returncode == 0
    assert lab.processes() == []


@pytest.mark.parametrize("date", ["2001-01-01", "2037-12-31"])
def test_a_clock_that_jumps_changes_nothing_else(lab: Home, date: str) -> None:
    with started(lab, "exec", "rs2", "--", "cat") as typing:
        assert typing.stdin is not None
        assert typing.stdout is not None
        assert lab.world.run("exec", "rs1", "--", "date", "-s", date).returncode == 0
        typing.stdin.write("still here\n")
        typing.stdin.flush()
        assert typing.stdout.readline() == "still here\n"
    assert lab.world.run("exec", "client", "--", "curl", "-sS", "http://vip/").returncode == 0


def test_an_age_is_never_negative(lab: Home) -> None:
    """The host's clock has been put back since."""
    (record,) = running_labs()
    path = record.path / RECORD
    path.write_text(path.read_text().replace(f'"begun": {record.begun}', f'"begun": {record.begun + 86400}'))
    assert "up 0 min" in lab.world.run("ps").stdout


def test_a_machine_that_was_rebooted(lab: Home) -> None:
    """All files are there, nobody holds the lock, and the kernel's number is somebody else's now."""
    (record,) = running_labs()
    kept = lab.temporary / record.path.name
    shutil.copytree(record.path, kept, ignore=shutil.ignore_patterns(SOCKET, "kernel"))
    assert lab.world.run("down").returncode == 0
    shutil.copytree(kept, record.path)
    shutil.rmtree(kept)
    (record.path / SOCKET).touch()
    with subprocess.Popen(["/bin/sleep", "1000"], process_group=0) as stranger:
        try:
            write_journal(record.path, read_journal(record.path) | {"group": stranger.pid})
            assert lab.world.run("ps").stdout.startswith("no lab is up")
            for words in (("exec", "rs1", "true"), ("down", "dr")):
                done = lab.world.run(*words)
                assert (done.returncode, "no lab is up" in one_line(done.stderr)) == (2, True)
            assert lab.world.run("clean").stdout == f"removed {record.path.name}\n"
            assert stranger.poll() is None
        finally:
            stranger.kill()


@pytest.mark.parametrize(
    "name",
    ["two words", "主目录", "it's", "new\nline", "$HOME `id` %s", "a,b:c", "-dash", "wild*?", "back\\slash", 'quo"te'],
)
def test_a_folder_may_be_called_anything(name: str) -> None:
    with own_home(name) as home:
        topology = home.labs / f"{name}.yaml"
        topology.write_text((Path(__file__).parents[2] / "topologies" / "dr.yaml").read_text())
        up = home.world.run("up", *MEMORY, "--", str(topology))
        assert up.returncode == 0, up.stderr
        file = home.labs / f"{name} file"
        with file.open("w") as output:
            words = [str(COMMAND), "exec", "rs1", "--", "cat", str(topology)]
            subprocess.run(words, env=dict(home.world.environment), cwd=home.labs, stdout=output, check=True)
        assert file.read_text() == topology.read_text()
        assert home.world.run("down").stdout == "dr is down\n"
        assert home.processes() == []


def as_root_of_mounts(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run shell text where mounts may be made that nobody else sees (unshare(1)), by an ordinary user too."""
    unshare = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    return subprocess.run(
        [*unshare, "sh", "-c", script, "sh", str(COMMAND), *map(str, words)],
        capture_output=True,
        check=False,
        text=True,
        timeout=COMMAND_TIMEOUT_S,
    )


WITH_A_FULL_HOME = """
set -e
mount -t tmpfs -o size=256k,mode=700 none "$2"
touch "$2/lock"
head -c $((256 - 4 - $3))k /dev/zero >"$2/filler"
if "$1" up dr --memory 128; then
    cat /dev/zero >"$2/rest" 2>/dev/null || true
    "$1" ps; "$1" exec rs1 echo works; "$1" down; rm "$2/rest"
else
    echo status $?
fi
ls -A "$2"
"""


@pytest.mark.parametrize("free_kib", [0, 4, 8, 12, 16, 24])
def test_a_disk_that_is_full(home: Home, free_kib: int) -> None:
    """Either there is just room enough for a lab, or it is told in one line; either way nothing is left."""
    done = as_root_of_mounts(WITH_A_FULL_HOME, home.labs, free_kib)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("filler\nlock\n")
    if "status" in done.stdout:
        assert done.stdout.startswith("status 3")
        assert "No space left on device" in one_line(done.stderr)
    else:
        assert "works\ndr is down\n" in done.stdout


WITH_FULL_SHARED_MEMORY = """
mount -t tmpfs -o size=$2 none /dev/shm
export TMPDIR=/dev/shm
[ "$3" = before ] && cat /dev/zero >/dev/shm/filler 2>/dev/null
"$1" up dr --memory 128 --kernel "$4" >/dev/null || exit
cat /dev/zero >/dev/shm/filler 2>/dev/null
"$1" exec rs1 -- head -c 60M /dev/zero >/dev/null || exit
"$1" exec rs1 -- sh -c 'head -c 60M /dev/zero >/tmp/zeros; echo works'
status=$?
"$1" down --all >/dev/null
exit $status
"""


@pytest.mark.parametrize(
    ("size", "when", "status", "said"),
    [
        ("8m", "before", 0, ""),
        ("140m", "later", 3, "the file system that holds the guest's memory is full: /dev/shm, or TMPDIR"),
    ],
)
def test_shared_memory_that_is_full(home: Home, uml: str, size: str, when: str, status: int, said: str) -> None:
    """Before, another folder takes its place; a lab that is up ends with a word about it."""
    done = as_root_of_mounts(WITH_FULL_SHARED_MEMORY, size, when, uml)
    assert done.returncode == status, done.stderr
    if said:
        assert said in one_line(done.stderr)


@pytest.fixture
def uml() -> str:
    """A User-Mode Linux kernel: the one that was asked for, if it is one."""
    asked = os.environ.get("LVSLAB_KERNEL", "")
    return asked if asked.startswith("uml") else "uml"


def read_only(home: Home) -> subprocess.CompletedProcess[str]:
    return as_root_of_mounts('mount -t tmpfs -o ro,mode=700 none "$2" && "$1" up dr', home.labs)


def refused_by_mode(home: Home) -> subprocess.CompletedProcess[str]:
    home.labs.chmod(0o777)
    return home.world.run(*UP)


def somebody_elses(home: Home) -> subprocess.CompletedProcess[str]:
    if os.getuid() == 0:
        os.chown(home.labs, 65534, 65534)
        return home.world.run(*UP)
    return as_root_of_mounts('LVSLAB_HOME=/ "$1" up dr')


def dangling_link(home: Home) -> subprocess.CompletedProcess[str]:
    home.labs.rmdir()
    home.labs.symlink_to("/proc/nowhere/at/all")
    return home.world.run(*UP)


def a_file(home: Home) -> subprocess.CompletedProcess[str]:
    home.labs.rmdir()
    home.labs.touch()
    return home.world.run(*UP)


def a_lock_that_is_a_folder(home: Home) -> subprocess.CompletedProcess[str]:
    (home.labs / LOCK).mkdir()
    return home.world.run(*UP)


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (read_only, "not writable"),
        (refused_by_mode, "others may write to it"),
        (somebody_elses, "belongs to user"),
        (dangling_link, "No such file or directory"),
        (a_file, "File exists"),
        (a_lock_that_is_a_folder, "Is a directory"),
    ],
)
def test_a_home_that_cannot_be_used(spoil: Callable[[Home], subprocess.CompletedProcess[str]], found: str) -> None:
    with own_home() as home:
        done = spoil(home)
        assert done.returncode == 3
        line = one_line(done.stderr)
        assert "the folder for labs cannot be used" in line
        assert found in line
        assert line.endswith("set LVSLAB_HOME to such a folder")


def test_what_is_left_of_a_lock_is_no_lock(lab: Home) -> None:
    """Locks are the kernel's, not the files': those of a crash lie about and hold up nobody."""
    assert lab.world.run("down").returncode == 0
    (lab.labs / LOCK).write_text("12345")
    stale = lab.labs / "lvslab-lab-0123abcd"
    stale.mkdir()
    (stale / LOCK).write_text("12345")
    (stale / f"{JOURNAL}.new").write_text("{")
    (stale / f"{RECORD}.new").write_text("{")
    up = lab.world.run(*UP)
    assert up.returncode == 0, up.stderr
    assert not stale.exists()


class Guest:
    """A machine of which we are root, with a lab on its own kernel: the node of another lab."""

    def __init__(self, outer: World, packages: Path) -> None:
        self._outer = outer
        self._packages = packages

    def run(self, user: str, home: str, script: str) -> subprocess.CompletedProcess[str]:
        """Run shell text as `user`, where $lvslab is the command."""
        lvslab = "/usr/bin/python3 -c 'from lvslab.cli.main import main; main()'"
        become = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
        settings = (f"LVSLAB_HOME={home}", f"PYTHONPATH={self._packages}", "PYTHONDONTWRITEBYTECODE=1")
        words = (*become, "env", *settings, "bash", "-c", f'lvslab() {{ {lvslab} "$@"; }}; {script}')
        return self._outer.run("exec", "--lab", "outer", "client", "--", *words)


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    with own_home() as home:
        home.labs.parent.chmod(0o755)
        packages = home.labs.parent / "packages"
        copy_packages(packages)
        up = home.world.run("up", "dr", "--name", "outer", "--kernel", "uml")
        assert up.returncode == 0, up.stderr
        found = Guest(home.world, packages)
        inner = found.run("0", "/run/roots", "lvslab up dr --kernel native")
        assert inner.returncode == 0, inner.stdout + inner.stderr
        yield found
        assert found.run("0", "/run/roots", "lvslab down").returncode == 0
        assert home.world.run("down", "outer").returncode == 0


NOBODY = "65534"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("lvslab ps", "belongs to user 0"),
        ("lvslab exec director id", "belongs to user 0"),
        ("lvslab down --all", "belongs to user 0"),
        ("lvslab clean", "belongs to user 0"),
        ("LVSLAB_HOME=$(echo /run/roots/lvslab-*) lvslab ps", "Permission denied"),
        ("ls /run/roots", "Permission denied"),
        ("cat /run/roots/lvslab-*/lab.json", "Permission denied"),
        ("kill -9 $(pgrep -f broker.py)", "Operation not permitted"),
        ("kill -9 $(pgrep -f agent/native.py | head -n 1)", "Operation not permitted"),
        (
            "/usr/bin/python3 -c 'import glob, socket, os;"
            ' [os.stat(f"/proc/{p}/cwd/socket") for p in os.popen("pgrep -f broker.py").read().split()]\'',
            "Permission denied",
        ),
    ],
)
def test_another_user_can_neither_enter_nor_steer(guest: Guest, script: str, said: str) -> None:
    done = guest.run(NOBODY, "/run/roots", script)
    assert done.returncode != 0
    assert said in done.stderr
    assert "dr is up" not in done.stdout
    still = guest.run("0", "/run/roots", "lvslab exec director hostname")
    assert (still.returncode, still.stdout) == (0, "director\n"), still.stderr


def test_root_does_not_use_what_another_user_prepared(guest: Guest) -> None:
    """Whoever makes the folder first could steer who comes later."""
    trap = "/tmp/trap"
    assert guest.run(NOBODY, trap, f"mkdir -m 700 {trap}").returncode == 0
    done = guest.run("0", trap, "lvslab ps")
    assert done.returncode == 3
    assert f"belongs to user {NOBODY}" in one_line(done.stderr)


def test_each_user_has_labs_of_their_own(guest: Guest) -> None:
    done = guest.run(NOBODY, "/tmp/nobodys", "lvslab ps")
    assert (done.returncode, done.stdout) == (0, "no lab is up; lvslab up NAME starts one\n"), done.stderr
