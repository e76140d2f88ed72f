"""The three defences against denial of service, each against the same SYN flood as without it.

The flood is a number of SYNs that hping3 sends from the lab's own client, as from an address nobody holds, so that no
handshake is ever finished. What to expect follows from net/netfilter/ipvs: ip_vs_ctl.c (update_defense_level), ip_vs.h
(ip_vs_todrop), ip_vs_conn.c (ip_vs_random_dropentry, todrop_entry), ip_vs_proto_tcp.c (tcp_states_dos).
"""

from __future__ import annotations

from math import sqrt

import pytest

from lvslab.ipvs.model import Connection
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.traffic.watched import Ending
from tests.kernel.support import OpenLab
from tests.kernel.timeline_support import agrees, set_vs, watched

pytestmark = pytest.mark.kernel

NOBODY = "203.0.113.77"
FLOOD_TIMEOUT_S = 120.0
SYNS = 300
DEFAULT_THRESHOLD = 1024
SCANNED_PART = 32
"""Each second so many draws of a bucket are made as there are in this part of the table."""


def flood(lab: Lab, first_port: int, count: int = SYNS) -> list[Connection]:
    """Send one SYN from each of so many ports; return the entries that the director then has of them."""
    ports = range(first_port, first_port + count)
    sent = lab.node("client").run(
        *("hping3", "--syn", "--count", str(count), "--interval", "u300", "--spoof", NOBODY),
        *("--baseport", str(first_port), "--destport", "80", "198.18.0.10"),
        timeout_s=FLOOD_TIMEOUT_S,
    )
    assert f"{count} packets transmitted" in sent.output, sent.output
    lab.sleep(0.2)
    return [entry for entry in lab.connections("director") if entry.client_port in ports]


def free_pages(lab: Lab) -> int:
    """Return what the defences take for available: free memory and buffers, but not the page cache."""
    text = lab.node("director").run("cat", "/proc/meminfo").output
    kibibytes = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()}
    return (kibibytes["MemFree"] + kibibytes["Buffers"]) // 4


def vs(lab: Lab, key: str) -> int:
    return int(lab.node("director").read_sysctl(f"net.ipv4.vs.{key}"))


def test_without_a_defence_each_syn_makes_an_entry(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr") as lab:
        entries = flood(lab, 1024)
        listed = lab.node("director").run("ipvsadm", "-Ln").output
        assert [vs(lab, key) for key in ("drop_entry", "drop_packet", "secure_tcp")] == [0, 0, 0]
    assert [entry.state for entry in entries] == ["SYN_RECV"] * SYNS
    active = [int(line.split()[4]) for line in listed.splitlines() if line.startswith("  -> 198")]
    assert active == [SYNS // 2] * 2


@pytest.mark.parametrize("rate", [3, 10])
def test_drop_packet_drops_every_nth_new_connection(open_lab_in: OpenLab, rate: int) -> None:
    with open_lab_in("dr") as lab:
        set_vs(lab, drop_packet=3, am_droprate=rate)
        assert len(flood(lab, 1024)) == SYNS - SYNS // rate


def test_drop_packet_leaves_connections_alone_that_there_are(open_lab_in: OpenLab) -> None:
    """With a rate of 1 nothing new comes in; who is connected is served."""
    script = r"""
        exec 3<>/dev/tcp/198.18.0.10/80; touch /run/open
        until [ -e /run/go ]; do sleep 0.1; done
        printf "GET / HTTP/1.0\r\n\r\n" >&3; cat <&3 >/run/said; touch /run/done"""
    with open_lab_in("dr") as lab:
        client = lab.node("client")
        client.run("rm", "-f", "/run/open", "/run/go", "/run/said", "/run/done")
        client.run("bash", "-c", f"setsid bash -c '{script}' >/dev/null 2>&1 </dev/null &")
        client.run("bash", "-c", "until [ -e /run/open ]; do sleep 0.1; done")
        set_vs(lab, drop_packet=3, am_droprate=1)
        (refused,) = client.get("198.18.0.10", first_port=20001)
        said = client.run("bash", "-c", "touch /run/go; until [ -e /run/done ]; do sleep 0.1; done; cat /run/said")
    assert refused.status == "ETIMEDOUT"
    assert "HTTP/1.1 200 OK" in said.output


def test_a_client_whose_syn_is_dropped_waits_for_its_own_second_try(open_lab_in: OpenLab) -> None:
    """A director that has just been told to begins with the next SYN; TCP tries again after a second (RFC 6298)."""
    with open_lab_in("dr") as lab:
        set_vs(lab, drop_packet=3)
        outcomes = lab.node("client").get("198.18.0.10", times=5, first_port=20001)
    assert all(outcome.ok for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    assert slowest.client_port == 20001
    assert slowest.seconds >= 1


def share_after(seconds: float, buckets: int) -> float:
    """Return the share of half-open entries that is left: each second draws buckets, the same perhaps twice."""
    return float((1 - 1 / buckets) ** (buckets // SCANNED_PART * seconds))


@pytest.mark.parametrize("mode", [0, 3])
def test_drop_entry_sheds_half_open_entries_and_keeps_who_is_connected(open_lab_in: OpenLab, mode: int) -> None:
    """Without it they stay for a minute; an entry that is established is not looked at in its first minute."""
    seconds = 8
    with open_lab_in("dr") as lab:
        hold = "exec 3<>/dev/tcp/198.18.0.10/80; sleep 100"
        lab.node("client").run("bash", "-c", f"setsid bash -c '{hold}' >/dev/null 2>&1 </dev/null &")
        before = {entry.client_port for entry in flood(lab, 1024) if entry.expires_s > 3 * seconds}
        set_vs(lab, drop_entry=mode)
        lab.sleep(seconds)
        after = {entry.client_port: entry.state for entry in lab.connections("director")}
        buckets = lab.ipvs("director").info().connection_table_size
    left = len(before & after.keys())
    assert "ESTABLISHED" in after.values()
    if mode == 0:
        assert left == len(before)
        return
    wide = 5 * sqrt(len(before)) / 2
    least, most = (share_after(seconds + beside, buckets) * len(before) for beside in (4, -2))
    assert least - wide < left < most + wide
    assert left < len(before)


SECURE_OPENED = {
    ("nat", 0): [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK")],
    ("nat", 3): [("SYN_RECV", "→ TCP SYN"), ("SYNACK", "← TCP SYN-ACK")],
    ("dr", 0): [("SYN_RECV", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK")],
    ("dr", 3): [("SYNACK", "→ TCP SYN"), ("ESTABLISHED", "→ TCP ACK")],
}


@pytest.mark.parametrize(("topology", "mode"), SECURE_OPENED)
def test_secure_tcp_lets_the_server_establish_a_connection_where_the_director_hears_it(
    kernel: RunningKernel, topology: str, mode: int
) -> None:
    """With NAT the client's ACK is not enough, the server must have sent more; with DR nobody else can be believed."""
    found = watched(kernel, topology, Ending.RESET, vs={"secure_tcp": mode})
    agrees(found, [*SECURE_OPENED[topology, mode], ("CLOSE", "→ TCP RST-ACK")])


def test_with_secure_tcp_what_the_server_sends_establishes_it(kernel: RunningKernel) -> None:
    found = watched(kernel, "nat", vs={"secure_tcp": 3})
    makers = dict(found.states)["ESTABLISHED"]
    assert "← TCP ACK" in makers
    assert makers == ["← TCP ACK"] or not found.is_gapless


DEFENCES = ("drop_entry", "drop_packet", "secure_tcp")


def test_mode_1_waits_for_memory_to_run_short_and_says_so_by_becoming_2(open_lab_in: OpenLab) -> None:
    """The threshold is in pages, and the director's own: raising it is the same as running short."""
    with open_lab_in("dr") as lab:
        set_vs(lab, **dict.fromkeys(DEFENCES, 1))
        assert vs(lab, "amemthresh") == DEFAULT_THRESHOLD < free_pages(lab)
        assert len(flood(lab, 1024)) == SYNS
        assert [vs(lab, key) for key in DEFENCES] == [1, 1, 1]
        # Available is less than half of the threshold: then the rate is 1, and every new connection is dropped.
        set_vs(lab, amemthresh=3 * free_pages(lab))
        assert [vs(lab, key) for key in DEFENCES] == [2, 2, 2]
        assert flood(lab, 2048) == []
        set_vs(lab, amemthresh=DEFAULT_THRESHOLD)
        assert [vs(lab, key) for key in DEFENCES] == [1, 1, 1]
        assert len(flood(lab, 3072)) == SYNS


def test_the_less_memory_the_more_is_dropped(open_lab_in: OpenLab) -> None:
    """One in threshold / (threshold - available), rounded down, and counted anew each second."""
    with open_lab_in("dr") as lab:
        set_vs(lab, drop_packet=1, amemthresh=free_pages(lab) * 7 // 5)
        kept = len(flood(lab, 1024))
    assert SYNS * 2 // 3 - 1 <= kept < SYNS
