"""Which packet makes which state: the connection table read between a connection's packets, by method and ending.

The states are those of net/netfilter/ipvs/ip_vs_proto_tcp.c (tcp_states) and ip_vs_proto_sctp.c (sctp_states): where
replies pass the director both sides' FINs count, where they do not the client's alone. The packets pass one by one;
where the machine was too busy to read the table between two of them a state may not be seen, and then it must not be
claimed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import RunningKernel
from lvslab.lab import open_kernel
from lvslab.traffic.watched import LATE_PERIOD_S, Ending
from tests.kernel.running_support import CTRL_C, World, this_user
from tests.kernel.support import lvslab, own_images
from tests.kernel.timeline_support import Timeline, agrees, watched

pytestmark = pytest.mark.kernel

LAB = "remembered"
DOCUMENT = Path(__file__).parents[2] / "docs" / "connections.md"
NAT_ENDS = {
    "server": [("FIN_WAIT", "← TCP FIN-ACK"), ("TIME_WAIT", "→ TCP FIN-ACK")],
    "client": [("CLOSE_WAIT", "→ TCP FIN-ACK"), ("TIME_WAIT", "← TCP FIN-ACK")],
    "reset": [("CLOSE", "→ TCP RST-ACK")],
}
HALF_ENDS = {
    "server": [("FIN_WAIT", "→ TCP FIN-ACK")],
    "client": [("FIN_WAIT", "→ TCP FIN-ACK")],
    "reset": [("CLOSE", "→ TCP RST-ACK")],
}
SCTP_BEGINS = {
    "nat": [
        ("INIT1", "→ SCTP INIT"),
        ("C-SENT", "← SCTP INIT ACK"),
        ("C-REPLIED", "→ SCTP COOKIE ECHO"),
        ("ESTABLISHED", "← SCTP COOKIE ACK"),
    ],
    "dr": [("INIT1", "→ SCTP INIT"), ("ESTABLISHED", "→ SCTP COOKIE ECHO")],
}
SCTP_ENDS = {
    ("nat", "server"): [("S-SENT", "← SCTP SHUTDOWN"), ("CLOSED", "→ SCTP SHUTDOWN ACK")],
    ("nat", "client"): [
        ("S-RECEIVED", "→ SCTP SHUTDOWN"),
        ("S-ACK-SENT", "← SCTP SHUTDOWN ACK"),
        ("CLOSED", "→ SCTP SHUTDOWN COMPLETE"),
    ],
    ("nat", "reset"): [("CLOSED", "→ SCTP ABORT")],
    ("dr", "server"): [("CLOSED", "→ SCTP SHUTDOWN ACK")],
    ("dr", "client"): [("S-RECEIVED", "→ SCTP SHUTDOWN"), ("CLOSED", "→ SCTP SHUTDOWN COMPLETE")],
    ("dr", "reset"): [("CLOSED", "→ SCTP ABORT")],
}


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize("topology", ["nat", "dr", "tun"])
def test_which_packet_makes_which_state(kernel: RunningKernel, topology: str, ending: Ending) -> None:
    found = watched(kernel, topology, ending)
    ends = NAT_ENDS if topology == "nat" else HALF_ENDS
    agrees(found, [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK"), *ends[ending]])
    assert found.document["sees"] == ("both halves" if topology == "nat" else "the client's half")
    assert any(packet.startswith("←") for packet in found.packets.values()) is (topology == "nat")


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize("method", SCTP_BEGINS)
def test_which_packet_of_an_association_makes_which_state(kernel: RunningKernel, method: str, ending: Ending) -> None:
    found = watched(kernel, "sctp", ending, params={"method": method})
    agrees(found, [*SCTP_BEGINS[method], *SCTP_ENDS[method, ending]])


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel_in_virtual_time(request: pytest.FixtureRequest) -> Iterator[RunningKernel]:
    with open_kernel(f"uml:{request.param.release}", name="timelines", virtual_time=True) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@pytest.mark.parametrize("topology", ["nat", "dr"])
def test_in_virtual_time_each_change_has_its_packet_and_the_end_its_time(
    kernel_in_virtual_time: RunningKernel, topology: str
) -> None:
    found = watched(kernel_in_virtual_time, topology, until_gone=True)
    ends = NAT_ENDS if topology == "nat" else HALF_ENDS
    opened = [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK")]
    assert found.states == [(state, [packet]) for state, packet in [*opened, *ends["server"]]]
    last = found.document["events"][-1]
    assert (last["after"], last["frames"]) == (None, [])
    last_packet_ns = max(event["time_ns"] for event in found.document["events"] if event["kind"] == "packet")
    minutes = (last["seen_ns"] - last_packet_ns) / 60e9
    # The kernel may run a timer late, by an eighth of its time (kernel/time/timer.c).
    assert 2 <= minutes <= 2 * (1 + 1 / 8) + LATE_PERIOD_S / 60


EXAMPLE = re.compile(r"```\n\$ lvslab (?P<words>connections .*? --time virtual.*?)\n(?P<text>.*?)```\n", re.DOTALL)
EXAMPLES = [(found["words"], found["text"]) for found in EXAMPLE.finditer(DOCUMENT.read_text())]


@pytest.mark.parametrize("image", own_images(), ids=lambda image: image.release)
@pytest.mark.parametrize(("words", "text"), EXAMPLES, ids=[words for words, _ in EXAMPLES])
def test_the_document_shows_what_the_command_prints(words: str, text: str, image: UmlImage) -> None:
    """Without the milliseconds and the number of readings, which another release of the kernel may change a little."""
    done = lvslab(*words.split(), "--kernel", f"uml:{image.release}", environment={"COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    assert events_of(done.stdout) == events_of(text)


def events_of(text: str) -> list[list[str]]:
    title, *lines = text.splitlines()
    return [[title], *(line.split()[1:] for line in lines if "→" in line or "←" in line or "entry" in line)]


def test_the_document_has_both_machines() -> None:
    assert [words.split()[1] for words, _ in EXAMPLES] == ["nat", "nat", "dr"]


def test_a_template_is_on_the_time_line_of_its_client(kernel: RunningKernel) -> None:
    found = watched(kernel, "persistence")
    events = [event for event in found.document["events"] if event["kind"] == "change"]
    states = [event["after"]["state"] for event in events if event["after"]["template"]]
    assert states[-1] == "ASSURED"
    assert {state for state, _ in found.states} <= {"SYN_RECV", "ESTABLISHED", "FIN_WAIT"}


def test_the_command_shows_and_writes_the_same(kernel_kind: str, tmp_path: Path) -> None:
    file = tmp_path / "timeline.json"
    done = lvslab("connections", "dr", "--kernel", kernel_kind, "--end", "client", "--json", file)
    assert done.returncode == 0, done.stderr
    found = Timeline(json.loads(file.read_text()))
    agrees(found, [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK"), *HALF_ENDS["client"]])
    assert done.stdout.startswith("TCP client:20001 → VIP:80 at director, dr: it sees the client's half\n")
    assert f"The table was read {found.document['readings']} times" in done.stdout


def test_the_table_of_a_lab_that_is_up(kernel_kind: str) -> None:
    """Ipvsadm is the witness; names of nodes stand for addresses."""
    world = this_user(kernel_kind)
    assert world.run("up", "persistence", "--name", LAB, "--kernel", kernel_kind).returncode == 0
    try:
        empty = world.run("connections", "--lab", LAB).stdout
        for client in ("client1", "client3"):
            world.run("exec", "--lab", LAB, client, "--", "curl", "-s", "http://198.18.0.10/")
        text = world.run("connections", "--lab", LAB).stdout
        document = json.loads(world.run("connections", "--lab", LAB, "--json", "-").stdout)
        listed = world.run("exec", "--lab", LAB, "director", "--", "ipvsadm", "-Lnc").stdout
    finally:
        world.run("down", LAB)
    assert empty == "director: 0 entries\n"
    entries = document["directors"]["director"]
    kinds = [(entry["kind"], entry["sees"], entry["method"], entry["origin"]) for entry in entries]
    assert kinds == [("template", None, "dr", "local"), ("connection", "the client's half", "dr", "local")] * 2
    witness = {(row[3], row[4], row[5], row[2]) for row in map(str.split, listed.splitlines()[2:])}
    assert {(_end(e["client"]), _end(e["virtual"]), _end(e["destination"]), e["state"]) for e in entries} == witness
    assert "client1:0" in text
    assert text.splitlines()[0] == "director: 4 entries"


def _end(end: dict[str, Any]) -> str:
    return f"{end['address']}:{end['port']}"


def test_changes_are_shown_as_they_are_seen_until_ctrl_c(kernel_kind: str) -> None:
    world: World = this_user(kernel_kind)
    assert world.run("up", "dr", "--name", LAB, "--kernel", kernel_kind).returncode == 0
    try:
        watching = world.open_terminal("connections", "--lab", LAB, "--watch", "--interval", "0.05")
        world.run("exec", "--lab", LAB, "client", "--", "curl", "-s", "http://198.18.0.10/")
        watching.see("FIN_WAIT")
        watching.press(CTRL_C)
        watching.see("readings, 0.05 s between them")
        assert watching.status() == 0
    finally:
        world.run("down", LAB)
