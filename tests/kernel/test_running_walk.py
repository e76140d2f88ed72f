"""A student at several terminals: a lab is up, commands are typed by hand, packets are watched, the lab goes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest

from lvslab.kernels.images import find_image
from tests.kernel.running_support import Terminal, World, native_in_a_guest, ordinary_user, this_user

pytestmark = pytest.mark.kernel

CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"
WORLDS: dict[str, Callable[[], AbstractContextManager[World]]] = {
    "uml": lambda: nullcontext(this_user()),
    "uml, ordinary user": ordinary_user,
    "native, in a guest": native_in_a_guest,
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world in which the topology `dr` is up."""
    if find_image() is None:
        pytest.skip("User-Mode Linux is not installed")
    with WORLDS[request.param]() as found:
        up = found.run("up", "dr", "--kernel", found.kernel)
        assert up.returncode == 0, up.stdout + up.stderr
        yield found
        down = found.run("down", "dr")
        assert (down.returncode, down.stdout.strip()) == (0, "dr is down")
        assert "no lab is up" in found.run("ps").stdout


@pytest.fixture
def shell(world: World) -> Iterator[Callable[[str], Terminal]]:
    opened: list[Terminal] = []

    def open_on(node: str) -> Terminal:
        terminal = world.open_terminal("shell", "--lab", "dr", node)
        opened.append(terminal)
        terminal.see(f"{node}# ")
        return terminal

    yield open_on
    for terminal in opened:
        terminal.program.close(force=True)


Shell = Callable[[str], Terminal]


def test_a_cluster_typed_by_hand_and_watched(shell: Shell) -> None:
    director, client = shell("director"), shell("client")
    director.type("ipvsadm -C && echo services: $(ipvsadm -Ln | grep -c :80)")
    director.see("services: 0")
    client.type("curl -sS --max-time 2 http://vip/ || echo nobody' 'there")
    client.see("nobody there")
    for words in ("-A -t vip:80 -s rr", "-a -t vip:80 -r rs1 -g", "-a -t vip:80 -r rs2 -g"):
        director.see("director# ")
        director.type(f"ipvsadm {words}")
    director.see("director# ")
    director.type("tcpdump -lni eth0 'tcp port 80 and tcp[tcpflags] & tcp-syn != 0'")
    director.see("listening on eth0")
    client.type("for i in 1 2 3 4; do curl -sS http://vip/ | head -n 1; done | sort | uniq -c")
    client.see("2 rs1", "2 rs2")
    director.see("> 198.18.0.10.80: Flags [S]")
    director.press(CTRL_C)
    director.see("packets captured", "director# ")
    director.type("exit 5")
    assert director.status() == 5


def test_what_a_terminal_is_expected_to_do(shell: Shell) -> None:
    node = shell("rs1")
    node.press("cat /etc/resolv.co\t")
    node.see("/etc/resolv.conf")
    node.press(CTRL_C)
    node.see("rs1# ")
    node.program.setwinsize(33, 101)
    node.type("sleep 0.2; stty size")
    node.see("33 101")
    node.type("sleep 1000")
    node.press(CTRL_Z)
    node.see("Stopped", "rs1# ")
    node.type("bg; jobs; kill %1; wait; echo all' 'done")
    node.see("Running", "all done")
    node.type("seq 1000 | more")
    node.see("--More--")
    node.press("q")
    node.see("rs1# ")
    node.type("tty && echo fine' 'still")
    node.see("/dev/pts/", "fine still")
    node.press(CTRL_D)
    assert node.status() == 0


def test_a_large_paste_arrives_whole(shell: Shell) -> None:
    node = shell("client")
    lines = 3000
    # Without echo: nobody reads it while the paste goes on.
    node.type("stty -echo; echo paste' 'now; cat >/tmp/pasted; stty echo")
    node.see("paste now")
    node.press("".join(f"line {number} of a long text that somebody pastes\n" for number in range(lines)))
    node.press(CTRL_D)
    node.see("client# ")
    node.type(f"cut -d' ' -f2 /tmp/pasted | cmp - <(seq 0 {lines - 1}) && echo all' 'there")
    node.see("all there")


def test_two_nodes_have_names_and_files_of_their_own(world: World) -> None:
    for node in ("client", "rs2"):
        done = world.run("exec", "--lab", "dr", node, "--", "sh", "-c", "hostname; getent hosts vip rs2")
        assert done.stdout.split() == [node, "198.18.0.10", "vip", "198.18.0.12", "rs2"], done.stderr
