"""ipvsadm, looking at a director's table after traffic, says what we read from the kernel ourselves."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from lvslab.ipvs import proc
from lvslab.ipvs.model import ServiceEntry, Stats
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.topology.model import Method
from tests.kernel.support import lab_in

pytestmark = pytest.mark.kernel

METHODS = ("dr", "nat", "tun")
FLAGS = {Method.NAT: "-m", Method.DR: "-g", Method.TUN: "-i"}
WORDS = {Method.NAT: "Masq", Method.DR: "Route", Method.TUN: "Tunnel"}
ESTIMATOR_S = 2
"""How often the kernel copies the counters that netlink reports (net/netfilter/ipvs/ip_vs_est.c)."""
ESTIMATOR_ROUNDS = 30


@pytest.fixture(scope="module", params=METHODS)
def driven(request: pytest.FixtureRequest, kernel: RunningKernel) -> Iterator[Lab]:
    """Each method's topology with weights' worth of connections behind it."""
    with lab_in(kernel, request.param, real_servers=3, scheduler="wrr") as lab:
        assert all(outcome.ok for outcome in lab.drive())
        yield lab


def test_ipvsadm_saves_the_services_we_read(driven: Lab) -> None:
    (entry,) = driven.ipvs("director").services()
    service = f"-t {address_of(entry)}"
    expected = {f"-A {service} -s wrr"}
    for item in entry.destinations:
        destination = item.destination
        expected.add(f"-a {service} -r {destination} {FLAGS[destination.method]} -w {destination.weight}")
    saved = ipvsadm(driven, "-Sn").splitlines()
    assert {line.split(" --tun-type")[0].strip() for line in saved} == expected


def test_ipvsadm_lists_servers_in_our_order_with_our_connection_counts(driven: Lab) -> None:
    (entry,) = driven.ipvs("director").services()
    rows = [line.split()[1:] for line in ipvsadm(driven, "-Ln", "--nosort").splitlines() if "->" in line][1:]
    assert rows == [
        [
            str(item.destination),
            WORDS[item.destination.method],
            *map(str, (item.destination.weight, item.active, item.inactive)),
        ]
        for item in entry.destinations
    ]
    assert sum(item.active + item.inactive for item in entry.destinations) > 0


def test_ipvsadm_lists_the_connections_we_read(driven: Lab) -> None:
    text = read(driven, "/proc/net/ip_vs_conn")
    ours = {
        (item.protocol, item.state, f"{item.client}:{item.client_port}", f"{item.destination}:{item.destination_port}")
        for item in proc.connections(text)
    }
    rows = [line.split() for line in ipvsadm(driven, "-Lnc").splitlines()[2:]]
    assert {(row[0], row[2], row[3], row[5]) for row in rows} == ours
    assert len(ours) > 0


def test_ipvsadm_counts_what_we_count(driven: Lab) -> None:
    totals = proc.totals(read(driven, "/proc/net/ip_vs_stats_percpu"))
    entry = settled(driven, totals.connections)
    rows = [line.split() for line in ipvsadm(driven, "-Ln", "--stats", "--exact").splitlines()[3:]]
    theirs = {row[1]: tuple(map(int, row[2:])) for row in rows}
    assert theirs == {
        address_of(entry): counters(entry.stats),
        **{str(item.destination): counters(item.stats) for item in entry.destinations},
    }
    assert counters(entry.stats) == counters(totals)
    assert totals.packets_in > 0


def ipvsadm(lab: Lab, *options: str) -> str:
    done = lab.node("director").run("ipvsadm", *options)
    assert done.status == 0, done.output
    return done.output


def counters(stats: Stats) -> tuple[int, ...]:
    return stats.connections, stats.packets_in, stats.packets_out, stats.bytes_in, stats.bytes_out


def read(lab: Lab, path: str) -> str:
    return lab.node("director").run("cat", path).output


def settled(lab: Lab, connections: int) -> ServiceEntry:
    """Return the service once the kernel's estimator has copied its counters."""
    for _ in range(ESTIMATOR_ROUNDS):
        (entry,) = lab.ipvs("director").services()
        if entry.stats.connections == connections:
            return entry
        time.sleep(ESTIMATOR_S)
    pytest.fail(f"the counters netlink reports never reached {connections} connections: {entry.stats}")


def address_of(entry: ServiceEntry) -> str:
    return str(entry.service.key).removeprefix("TCP ")
