"""A lab that Mininet built stays, with Mininet's own command line beside lvslab's verbs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.kernel.running_support import CTRL_C, Terminal, World, this_user
from tests.kernel.support import COMMAND

pytestmark = pytest.mark.kernel

PROMPT = "mininet> "
VIP = "203.0.113.100"


@pytest.fixture(scope="module")
def lab() -> Iterator[World]:
    """The topology `nat`, up and built by Mininet."""
    world = this_user()
    done = world.run("up", "nat", "--backend", "mininet", "--name", "mn")
    assert done.returncode == 0, done.stderr
    yield world
    done = world.run("down", "mn")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def command_line(lab: World) -> Terminal:
    terminal = lab.open_terminal("mininet", "--lab", "mn")
    terminal.see(PROMPT)
    return terminal


def test_mininet_shows_its_network_and_runs_programs_in_it(command_line: Terminal) -> None:
    command_line.type("nodes")
    command_line.see("client director rs1 rs2 sw-inside sw-outside", PROMPT)
    command_line.type("director ping -c 1 rs2")
    command_line.see("1 packets transmitted, 1 received, 0% packet loss", PROMPT)
    command_line.type("py rs1.MAC(), director.IP('eth1')")
    command_line.see("('02:00:00:00:03:00', '198.18.0.1')", PROMPT)
    command_line.type("exit")
    assert command_line.status() == 0


def test_ctrl_c_ends_what_runs_in_a_node_and_no_more(command_line: Terminal) -> None:
    command_line.type("client ping director")
    command_line.see("64 bytes from 203.0.113.2")
    command_line.press(CTRL_C)
    command_line.see("packet loss", PROMPT)
    command_line.press(CTRL_C)
    command_line.see("Interrupt", PROMPT)
    command_line.type("sw-inside ip -br link show br0")
    command_line.see("UP", PROMPT)
    command_line.type("exit")
    assert command_line.status() == 0


def test_a_second_one_is_told_to_wait(command_line: Terminal, lab: World) -> None:
    second = lab.run("mininet", "--lab", "mn")
    assert (second.returncode, second.stdout) == (3, "")
    assert second.stderr == "lvslab: somebody else has Mininet's command line of this lab\n"
    command_line.type("exit")
    assert command_line.status() == 0


def test_a_terminal_that_is_closed_ends_what_ran_in_it(command_line: Terminal, lab: World) -> None:
    command_line.type("client ping director")
    command_line.see("64 bytes from 203.0.113.2")
    command_line.program.close()
    again = lab.open_terminal("mininet", "--lab", "mn")
    again.see(PROMPT)
    again.type("client ps -C ping")
    again.see("PID TTY", PROMPT)
    assert "ping" not in str(again.program.before).replace("ps -C ping", "")
    again.type("exit")
    assert again.status() == 0


def test_commands_may_come_through_a_pipe(lab: World) -> None:
    told = subprocess.run(
        [COMMAND, "mininet", "--lab", "mn"],
        input="pingpair\ndirector ipvsadm -Ln\n",
        check=False,
        capture_output=True,
        text=True,
        env=dict(lab.environment),
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert "client -> director \ndirector -> client" in told.stdout
    assert f"TCP  {VIP}:80 rr" in told.stdout


def test_the_other_verbs_work_as_on_any_lab(lab: World) -> None:
    judged = lab.run("verify", "--lab", "mn")
    assert judged.returncode == 0, judged.stdout
    assert ", mininet" in judged.stdout
    assert lab.run("exec", "--lab", "mn", "rs1", "--", "hostname").stdout == "rs1\n"
    shell = lab.open_terminal("shell", "--lab", "mn", "director")
    shell.see("director#")
    shell.type("cat /proc/sys/net/ipv4/ip_forward; exit")
    shell.see("1\r\n")
    assert shell.status() == 0


def test_a_link_taken_down_in_mininet_is_seen_by_verify(lab: World, command_line: Terminal) -> None:
    command_line.type("link sw-inside rs2 down")
    command_line.see(PROMPT)
    assert lab.run("verify", "--lab", "mn").returncode == 1
    command_line.type("link sw-inside rs2 up")
    command_line.see(PROMPT)
    command_line.type("rs2 ip route add default via 198.18.0.1")
    command_line.see(PROMPT)
    assert lab.run("verify", "--lab", "mn").returncode == 0
    command_line.type("exit")
    assert command_line.status() == 0


def test_a_lab_of_another_backend_has_none() -> None:
    world = this_user()
    assert world.run("up", "dr", "--name", "plain").returncode == 0
    refused = world.run("mininet", "--lab", "plain")
    world.run("down", "plain")
    assert refused.returncode == 2
    assert refused.stderr == (
        "lvslab: plain: Mininet has no part in this lab: expected a network built by Mininet, found netns; "
        "lvslab down plain, then lvslab up dr --backend mininet\n"
    )
