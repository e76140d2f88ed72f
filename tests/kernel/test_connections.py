"""Which packet makes which state: the connection table read between a connection's packets, by method and ending.

The states are those of net/netfilter/ipvs/ip_vs_proto_tcp.c (tcp_states) and ip_vs_proto_sctp.c (sctp_states): where
replies pass the director both sides' FINs count, where they do not the client's alone. The packets pass one by one;
where the machine was too busy to read the table between two of them a state may not be seen, and then it must not be
claimed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.traffic.watched import Ending
from tests.kernel.running_support import CTRL_C, World, this_user
from tests.kernel.support import lvslab
from tests.kernel.timeline_support import Timeline, agrees, watched

pytestmark = pytest.mark.kernel

LAB = "remembered"
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
