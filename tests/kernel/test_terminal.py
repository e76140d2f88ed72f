"""A shell on a node is a real terminal: keys, jobs, sizes, colours and programs that draw on it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator

import pexpect
import pytest

from lvslab.kernels.images import find_image
from tests.kernel.running_support import CTRL_C, TERMINAL_TIMEOUT_S, WORLDS, Terminal, World

pytestmark = pytest.mark.kernel

CTRL_A, CTRL_D, CTRL_E, CTRL_L, CTRL_R, CTRL_U, CTRL_W, CTRL_Z = (
    "\x01",
    "\x04",
    "\x05",
    "\x0c",
    "\x12",
    "\x15",
    "\x17",
    "\x1a",
)
ESCAPE, UP_ARROW, DELETE = "\x1b", "\x1b[A", "\x7f"
PASTED_BYTES = 64 << 10

Shell = Callable[[str], Terminal]


@pytest.fixture(scope="module", params=["uml", "native, in a guest"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world in which the topology `dr` is up."""
    if find_image() is None:
        pytest.skip("User-Mode Linux is not installed")
    with WORLDS[request.param]() as found:
        up = found.run("up", "dr", "--kernel", found.kernel)
        assert up.returncode == 0, up.stdout + up.stderr
        yield found
        assert found.run("down", "dr").returncode == 0


@pytest.fixture
def shell(world: World) -> Iterator[Shell]:
    opened: list[Terminal] = []

    def open_on(node: str) -> Terminal:
        terminal = world.open_terminal("shell", "--lab", "dr", node)
        opened.append(terminal)
        terminal.see(f"{node}# ")
        return terminal

    yield open_on
    for terminal in opened:
        terminal.program.close(force=True)


@pytest.mark.parametrize(
    "lines",
    [
        {f"echo wrong{5 * DELETE}ri''ght": "right"},
        {f"tw''o{CTRL_A}echo one-{CTRL_E}-three": "one-two-three"},
        {f"echo these are gone{CTRL_U}echo 'a' 'line'": "a line"},
        {f"echo ke''pt lost{CTRL_W}": "kept\r\n"},
        {"echo fi''rst": "first", "echo sec''ond": "second", f"{UP_ARROW}{UP_ARROW}": "first"},
        {"echo ne''edle": "needle", "echo h''ay": "hay", f"{CTRL_R}ne''e": "needle"},
        {"echo '你'好 žluť''oučký": "你好 žluťoučký"},
    ],
)
def test_a_line_is_edited(shell: Shell, lines: dict[str, str]) -> None:
    """Quotes tell what is printed from what is typed."""
    node = shell("rs1")
    for keys, printed in lines.items():
        node.type(keys)
        node.see(printed, "rs1# ")


@pytest.mark.parametrize(
    ("keys", "completed"),
    [
        ("cat /etc/resolv.co\t", "/etc/resolv.conf"),
        ("ls /proc/sys/net/ipv4/ip_forw\t", "ard"),
        ("ipvsadm-sa\t", "ve"),
    ],
)
def test_tab_completes(shell: Shell, keys: str, completed: str) -> None:
    node = shell("rs1")
    node.press(keys)
    node.see(completed)


def test_jobs_are_controlled(shell: Shell) -> None:
    node = shell("rs1")
    node.press("echo never run")
    node.press(CTRL_C)
    node.see("^C", "rs1# ")
    # Only a job that has begun is in the foreground, to be stopped.
    node.type("sh -c 'echo be\"\"gun; sleep 1000; :'")
    node.see("begun")
    node.press(CTRL_Z)
    node.see("Stopped", "rs1# ")
    node.type("bg; jobs")
    node.see("Running", "rs1# ")
    node.type("fg")
    node.see("sleep 1000")
    node.press(CTRL_C)
    node.see("rs1# ")
    node.type("echo status $?; jobs; sleep 1000 & kill %1; wait; echo all' 'done")
    node.see("status 130", "all done")
    node.press(CTRL_C)
    node.press(CTRL_D)
    node.see("exit")
    node.status()


def test_control_c_reaches_the_job_in_the_foreground_only(shell: Shell) -> None:
    node = shell("rs1")
    node.type('sleep 1000 & sh -c \'trap "echo caught; exit 3" INT; echo re""ady; while :; do sleep 0.1; done\'')
    node.see("ready")
    node.press(CTRL_C)
    node.see("caught", "rs1# ")
    node.type("echo status $?; jobs")
    node.see("status 3", "Running")


def test_the_window_may_be_resized(shell: Shell) -> None:
    node = shell("rs1")
    node.type("stty size")
    node.see("24 100")
    for rows, columns in ((33, 101), (5, 20), (200, 500)):
        node.program.setwinsize(rows, columns)
        node.type(f"until [ \"$(stty size)\" = '{rows} {columns}' ]; do :; done; echo si'zed'")
        node.see("sized", "rs1# ")
    # Not in bash itself: only the job in the foreground is told (tty_ioctl(4)).
    node.type('sh -c \'trap "echo told of \\$(stty size)" WINCH; echo wat""ching; while :; do sleep 0.1; done\'')
    node.see("watching")
    # A job that is only just being started may miss one.
    sizes = [(40, columns) for columns in (90, 91, 92)]
    told = [f"told of {rows} {columns}" for rows, columns in sizes]
    for rows, columns in sizes:
        node.program.setwinsize(rows, columns)
        if node.program.expect_exact([*told, pexpect.TIMEOUT], timeout=TERMINAL_TIMEOUT_S / len(sizes)) < len(told):
            break
    else:
        raise AssertionError("the job in the foreground is not told of the new size")
    node.press(CTRL_C)


def test_listings_have_colours(shell: Shell) -> None:
    node = shell("rs1")
    node.type("ls --color -d /etc")
    node.see(f"{ESCAPE}[01;34m/etc{ESCAPE}[0m")
    node.type("ip addr show dev eth0")
    node.see(f"{ESCAPE}[36meth0")


def test_less_pages_searches_and_leaves(shell: Shell) -> None:
    node = shell("rs1")
    node.type("seq 1000 | less")
    node.see("1\r\n", "23\r\n")
    node.press(" ")
    node.see("46\r\n")
    node.press("/999\n")
    node.see("999")
    node.press("q")
    node.see("rs1# ")
    node.type("echo still' 'here")
    node.see("still here")


@pytest.mark.parametrize("editor", ["vi"])
def test_an_editor_writes_a_file(shell: Shell, editor: str) -> None:
    node = shell("rs1")
    node.type(f"{editor} /tmp/edited")
    node.see("edited")
    node.press("isome text")
    node.see("some text")
    node.press(f"{ESCAPE}yyp:wq\n")
    node.see("rs1# ")
    node.type("cat -A /tmp/edited; rm /tmp/edited")
    node.see("some text$", "some text$")


def test_packets_are_watched_while_they_pass(shell: Shell) -> None:
    watching, asking = shell("director"), shell("client")
    watching.type("tcpdump -lni eth0 'tcp port 80 and tcp[tcpflags] == tcp-syn'")
    watching.see("listening on eth0")
    for _ in range(2):
        asking.type("curl -sS http://vip/ | head -n 1")
        asking.see("rs")
        watching.see("> 198.18.0.10.80: Flags [S]")
    watching.press(CTRL_C)
    watching.see("packets captured", "director# ")


@pytest.mark.parametrize("term", [None, "dumb", "xterm-256color", "no-such-terminal", "", "x" * 1000, "ünï"])
def test_whatever_the_terminal_is_called(world: World, term: str | None) -> None:
    environment = {name: value for name, value in world.environment.items() if name != "TERM"}
    if term is not None:
        environment["TERM"] = term
    elsewhere = World(world.command, world.command_in_terminal, world.kernel, environment, world.folder)
    node = elsewhere.open_terminal("shell", "--lab", "dr", "rs1")
    try:
        node.see("rs1# ")
        node.type("echo it' 'works; exit 4")
        node.see("it works")
        assert node.status() == 4
    finally:
        node.program.close(force=True)


def test_a_large_paste_arrives_whole(shell: Shell) -> None:
    node = shell("client")
    letters = random.Random(1).choices("abcdefghijklmnopqrstuvwxyz ", k=PASTED_BYTES)
    text = "".join("\n" if number % 72 == 71 else letter for number, letter in enumerate(letters)) + "\n"
    # Without echo: nobody reads it while the paste goes on.
    node.type("stty -echo; echo paste' 'now; cat >/tmp/pasted; stty echo; sha256sum /tmp/pasted")
    node.see("paste now")
    node.press(text)
    node.press(CTRL_D)
    node.see(hashlib.sha256(text.encode()).hexdigest())


def test_a_terminal_that_is_closed_in_the_middle_of_a_command(shell: Shell, world: World) -> None:
    node = shell("rs1")
    node.type("sh -c 'echo be\"\"gun; exec sleep 7654321'")
    node.see("begun")
    node.program.close()
    gone = "while pgrep -f 'sleep [7]654321'; do :; done >/dev/null; ls /dev/pts"
    done = world.run("exec", "--lab", "dr", "rs1", "--", "sh", "-c", gone)
    assert done.returncode == 0, done.stderr
    shell("rs1")


def test_two_terminals_on_one_node_are_two(shell: Shell) -> None:
    one, other = shell("rs1"), shell("rs1")
    one.type("variable=mine; tty")
    one.see("/dev/pts/")
    other.type('echo "[$variable]"; stty -echo; stty size')
    other.see("[]", "24 100")
    one.type("[[ $(stty -a) == *' echo '* ]] && echo st''ill echoing; exit 5")
    one.see("still echoing")
    assert one.status() == 5
    other.type("exit 6")
    assert other.status() == 6


def test_our_own_terminal_is_as_before(world: World, shell: Shell) -> None:
    """After a session that a program left in a mess."""
    del shell
    words = " ".join([*world.command_in_terminal, "shell", "--lab", "dr", "rs1"])
    outside = World(("bash",), ("bash", "--norc"), "", {**world.environment, "PS1": "outside> "}, world.folder)
    terminal = outside.open_terminal()
    try:
        terminal.see("outside> ")
        terminal.type("stty -g >/tmp/before-$$; cat /tmp/before-$$")
        terminal.see("outside> ")
        terminal.type(words)
        terminal.see("rs1# ")
        terminal.type("stty raw -echo; kill -9 $$")
        terminal.see("outside> ")
        terminal.type('[ "$(stty -g)" = "$(cat /tmp/before-$$)" ] && echo as be"fore"; rm /tmp/before-$$')
        terminal.see("as before")
    finally:
        terminal.program.close(force=True)
