"""How long the table keeps an entry, by default and as `ipvsadm --set` says: read in the table, not waited for.

net/netfilter/ipvs/ip_vs_proto_tcp.c and ip_vs_proto_udp.c; waited for in test_connection_times.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lvslab.ipvs.proc import connections
from lvslab.lab import Lab
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

SLACK_S = 30
"""What may pass on a busy machine between the packet and the look."""
HELD = "exec 3<>/dev/tcp/198.18.0.10/80; sleep 300"


def rest_s(lab: Lab) -> int:
    """Return for how long the director's only entry stays."""
    (entry,) = connections(lab.node("director").run("cat", "/proc/net/ip_vs_conn").output)
    return entry.expires_s


def set_times(lab: Lab, times: Sequence[int]) -> None:
    done = lab.node("director").run("ipvsadm", "--set", *map(str, times))
    assert done.status == 0, done.output


@pytest.mark.parametrize(("times", "kept_s"), [((), 300), ((0, 0, 90), 90)], ids=["default", "set"])
def test_a_datagrams_entry(open_lab_in: OpenLab, times: Sequence[int], kept_s: int) -> None:
    with open_lab_in("udp") as lab:
        if times:
            set_times(lab, times)
        done = lab.node("client").run("bash", "-c", "echo x >/dev/udp/198.18.0.10/5060")
        assert done.status == 0, done.output
        assert kept_s - SLACK_S <= rest_s(lab) <= kept_s


@pytest.mark.parametrize(("times", "kept_s"), [((), 900), ((90, 0, 0), 90)], ids=["default", "set"])
def test_an_established_connections_entry(open_lab_in: OpenLab, times: Sequence[int], kept_s: int) -> None:
    with open_lab_in("dr") as lab:
        if times:
            set_times(lab, times)
        held = lab.node("client").run("bash", "-c", f"setsid bash -c '{HELD}' >/dev/null 2>&1 </dev/null & sleep 1")
        assert held.status == 0, held.output
        assert kept_s - SLACK_S <= rest_s(lab) <= kept_s


@pytest.mark.parametrize(("times", "kept_s"), [((), 120), ((0, 60, 0), 60)], ids=["default", "set"])
def test_a_finished_connections_entry(open_lab_in: OpenLab, times: Sequence[int], kept_s: int) -> None:
    with open_lab_in("dr") as lab:
        if times:
            set_times(lab, times)
        lab.node("client").get("198.18.0.10")
        assert kept_s - SLACK_S <= rest_s(lab) <= kept_s
