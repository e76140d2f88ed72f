"""`lvslab verify --lab` and `lvslab walk --lab`: a lab as somebody's hands have left it, while others use it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lvslab.kernels.attach import LabRecord, find_lab
from lvslab.running import attached
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S, lvslab

pytestmark = pytest.mark.kernel

NAME = "by-hand"
VIP = "198.18.0.10:80"
NO_RINGS = 1
"""/proc/net/packet has a line of titles and one for each packet socket."""


@pytest.fixture(scope="module")
def lab(kernel_kind: str) -> Iterator[LabRecord]:
    """VS/DR with three servers, up."""
    up = lvslab("up", "dr", "--name", NAME, "--set", "real_servers=3", "--kernel", kernel_kind)
    assert up.returncode == 0, up.stderr
    try:
        yield find_lab(NAME)
    finally:
        lvslab("down", NAME)


def do(node: str, script: str) -> str:
    done = lvslab("exec", "--lab", NAME, node, "--", "sh", "-ec", script)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def verify() -> tuple[int, dict[str, Mapping[str, Any]]]:
    """Verify the lab that is up; return the exit status and the expectations by name."""
    done = lvslab("verify", "--lab", NAME, "--json", "-")
    assert done.stdout, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    return done.returncode, {item["name"]: item for item in result["expectations"]}


def verdicts(found: Mapping[str, Mapping[str, Any]], verdict: str) -> set[str]:
    return {name for name, item in found.items() if item["verdict"] == verdict}


def test_again_and_again_the_verdict_is_the_same(lab: LabRecord) -> None:
    for _ in range(3):
        status, found = verify()
        assert (status, verdicts(found, "pass")) == (0, set(found)), found


HANDS: dict[str, tuple[str, str, str, str, str]] = {
    "scheduler": (
        "director",
        f"ipvsadm -E -t {VIP} -s wlc",
        f"ipvsadm -E -t {VIP} -s rr",
        "scheduler",
        "scheduler: expected rr, found wlc",
    ),
    "weight": (
        "director",
        f"ipvsadm -e -t {VIP} -r 198.18.0.12 -w 0",
        f"ipvsadm -e -t {VIP} -r 198.18.0.12 -w 1",
        "scheduler",
        "weight: expected 1, found 0",
    ),
    "server gone": (
        "director",
        f"ipvsadm -d -t {VIP} -r 198.18.0.13",
        f"ipvsadm -a -t {VIP} -r 198.18.0.13 -g",
        "scheduler",
        "198.18.0.13:80: missing",
    ),
    "method": (
        "director",
        f"ipvsadm -e -t {VIP} -r 198.18.0.11 -m",
        f"ipvsadm -e -t {VIP} -r 198.18.0.11 -g",
        "dr-request",
        "",
    ),
    "arp_ignore": (
        "rs1",
        "sysctl -qw net.ipv4.conf.all.arp_ignore=0",
        "sysctl -qw net.ipv4.conf.all.arp_ignore=1",
        "arp-owner",
        "rs1 answered ARP for 198.18.0.10",
    ),
    "VIP": ("rs2", "ip addr del 198.18.0.10/32 dev lo", "ip addr add 198.18.0.10/32 dev lo", "answered", ""),
}


@pytest.mark.parametrize("case", HANDS)
def test_what_hands_break_fails_and_what_they_mend_passes(lab: LabRecord, case: str) -> None:
    node, broken, mended, expectation, seen = HANDS[case]
    do(node, broken)
    try:
        status, found = verify()
    finally:
        do(node, mended)
    assert (status, found[expectation]["verdict"]) == (1, "fail"), found
    assert seen in found[expectation]["seen"]
    status, found = verify()
    assert (status, verdicts(found, "pass")) == (0, set(found)), found


def test_a_table_typed_anew_in_another_order_is_right_too(lab: LabRecord) -> None:
    servers = " ".join(f"-a -t {VIP} -r 198.18.0.1{number} -g;" for number in (2, 3, 1))
    do("director", f"ipvsadm -C; ipvsadm -A -t {VIP} -s rr; " + servers.replace("-a", "ipvsadm -a"))
    status, found = verify()
    assert (status, verdicts(found, "pass")) == (0, set(found)), found


def test_an_entry_of_the_router_typed_by_hand_stays(lab: LabRecord) -> None:
    """The papers' first cure of the ARP problem: a static entry on the router, which then asks nobody."""
    entry = "198.18.0.10 lladdr 02:00:00:00:03:00 dev eth1 nud permanent"
    do("router", f"ip neigh replace {entry}")
    try:
        status, found = verify()
        assert "PERMANENT" in do("router", "ip neigh show 198.18.0.10")
    finally:
        do("router", "ip neigh del 198.18.0.10 dev eth1")
    assert (status, found["arp-owner"]["verdict"]) == (0, "skip")


def test_a_walk_shows_the_question_for_the_vip_each_time(lab: LabRecord) -> None:
    for _ in range(2):
        done = lvslab("walk", "--lab", NAME, "--arp")
        assert done.returncode == 0, done.stderr
        assert "who has 198.18.0.10" in done.stdout
        assert "Request: TCP SYN, client → router → director → rs" in done.stdout


def test_without_a_name_the_only_lab_is_meant(lab: LabRecord, tmp_path: Path) -> None:
    done = lvslab("verify", "--lab", "--pcap", tmp_path / "c.pcapng")
    assert (done.returncode, "✓ PASS" in done.stdout) == (0, True), done.stderr
    stored = lvslab("verify", "--from", tmp_path / "c.pcapng")
    assert stored.returncode == 0, stored.stdout
    missing = lvslab("verify", "--lab", "another")
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)


BUSY = """
import socket
print("begun")
while True:
    with socket.create_connection(("vip", 80), 5) as connection:
        connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        while connection.recv(4096):
            pass
"""


@contextmanager
def beside(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run another command meanwhile."""
    with subprocess.Popen([COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        try:
            yield command
        finally:
            command.kill()


def test_traffic_of_others_does_not_make_it_lie(lab: LabRecord) -> None:
    with beside("exec", "--lab", NAME, "client", "--", "python3", "-uc", BUSY) as busy:
        assert busy.stdout is not None
        assert busy.stdout.readline() == "begun\n"
        for _ in range(3):
            _, found = verify()
            assert verdicts(found, "fail") == set(), found
            assert verdicts(found, "error") <= {"scheduler"}, found
            assert "of others" in found["statistics"]["seen"]
            do("director", f"ipvsadm -E -t {VIP} -s wlc")
            _, found = verify()
            do("director", f"ipvsadm -E -t {VIP} -s rr")
            assert verdicts(found, "fail") == {"scheduler"}, found
    status, found = verify()
    assert (status, verdicts(found, "pass")) == (0, set(found)), found


def test_labs_and_nodes_complete_in_the_shell(lab: LabRecord) -> None:
    def offered(words: str) -> list[str]:
        environment = {"COMP_WORDS": f"lvslab {words}", "COMP_CWORD": str(len(words.split(" ")))}
        done = lvslab(environment=environment | {"_LVSLAB_COMPLETE": "bash_complete"})
        return [line.removeprefix("plain,") for line in done.stdout.splitlines()]

    assert offered("verify --lab ") == [NAME]
    assert offered("shell r") == ["router", "rs1", "rs2", "rs3"]
    assert offered(f"exec --lab {NAME} d") == ["director"]


def test_a_capture_goes_on_meanwhile(lab: LabRecord, tmp_path: Path) -> None:
    with beside("capture", "--lab", NAME, "director", "-w", str(tmp_path / "live.pcapng")) as capture:
        assert capture.stderr is not None
        assert "capturing at director" in capture.stderr.readline()
        status, found = verify()
        capture.send_signal(signal.SIGINT)
        _, said = capture.communicate(timeout=COMMAND_TIMEOUT_S)
    assert (status, verdicts(found, "pass")) == (0, set(found)), found
    assert "0 dropped by the kernel" in said


@pytest.mark.parametrize("verb", ["verify", "walk"])
def test_two_recordings_at_once_are_refused_in_one_line(lab: LabRecord, verb: str) -> None:
    with attached(lab) as first, first.record():
        done = lvslab(verb, "--lab", NAME)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        "lvslab: the lab is being recorded already; wait until the other verify or walk has ended"
    )
    assert lvslab(verb, "--lab", NAME).returncode == 0


ENDINGS = {
    signal.SIGINT: (130, "lvslab: interrupted"),
    signal.SIGTERM: (143, "lvslab: terminated"),
    signal.SIGKILL: (-9, ""),
}


@pytest.mark.parametrize("number", ENDINGS)
def test_one_that_is_broken_off_leaves_the_lab_as_it_was(lab: LabRecord, number: signal.Signals) -> None:
    do("router", "sysctl -qw net.ipv4.ip_forward=0")  # calls then take long
    try:
        with beside("verify", "--lab", NAME, "-v") as command:
            assert command.stderr is not None
            assert "traffic" in command.stderr.readline()
            while len(do("client", "cat /proc/net/packet").splitlines()) == NO_RINGS:
                assert command.poll() is None
            command.send_signal(number)
            out, err = command.communicate(timeout=COMMAND_TIMEOUT_S)
    finally:
        do("router", "sysctl -qw net.ipv4.ip_forward=1")
    assert (command.returncode, out) == (ENDINGS[number][0], "")
    assert err.splitlines()[-1:] == ([ENDINGS[number][1]] if ENDINGS[number][1] else err.splitlines()[-1:])
    assert len(do("client", "cat /proc/net/packet").splitlines()) == NO_RINGS
    assert list((lab.path / "share").glob("spool-*")) == []
    assert "20001" not in do("client", "ss -Htn state syn-sent")
    status, found = verify()
    assert (status, verdicts(found, "pass")) == (0, set(found)), found


def test_everything_killed_in_a_node_does_not_matter_to_the_next(lab: LabRecord) -> None:
    """The nodes of a lab share its processes, and `kill -9 -1` ends all of them but the agent."""
    lvslab("exec", "--lab", NAME, "rs1", "--", "sh", "-c", "kill -9 -1")
    status, found = verify()
    assert (status, verdicts(found, "pass")) == (0, set(found)), found


def test_an_empty_table_is_named_as_the_cause(lab: LabRecord) -> None:
    saved = do("director", "ipvsadm-save -n")
    do("director", "ipvsadm -C")
    try:
        status, found = verify()
        assert status == 1
        assert "has no server for 198.18.0.10:80, or not even the service" in json.dumps(found)
    finally:
        do("director", f"ipvsadm-restore <<'X'\n{saved}X\n")
