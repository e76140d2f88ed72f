"""How long directors remember connections: the kernel's own defaults, waited for in virtual time.

Timeouts: net/netfilter/ipvs/ip_vs_proto_tcp.c (tcp_timeouts). Where a director sees both halves of a connection (NAT)
its states are those of TCP; where replies pass it by (DR, TUN) they follow from the client's half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lvslab.ipvs.model import Connection
from lvslab.ipvs.proc import connections
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, open_kernel
from tests.kernel.support import lab_in, own_images

pytestmark = pytest.mark.kernel

MINUTE_S = 60
MARGIN_S = 2
"""What the commands between two looks may let pass, and the whole seconds that the table shows."""
LATE_PART = 8
"""The kernel may run a timer late, by this part of its time (kernel/time/timer.c: granularity of its levels)."""
QUESTION = r'printf "GET / HTTP/1.0\r\n\r\n" >&3'
HOLD = "OPEN; sleep 100000"
FINISH = "OPEN; ASK; cat <&3 >/dev/null; exec 3>&-"


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel(request: pytest.FixtureRequest) -> Iterator[RunningKernel]:
    image = request.param
    assert isinstance(image, UmlImage)
    with open_kernel(f"uml:{image.release}", name="times", virtual_time=True) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@dataclass
class Cluster:
    """A lab in virtual time, and its director's memory."""

    lab: Lab

    @property
    def vip(self) -> str:
        return str(self.lab.topology.services[0].vip)

    def remembered(self) -> tuple[Connection, ...]:
        return connections(self.at("director", "cat /proc/net/ip_vs_conn"))

    def only(self) -> Connection:
        (connection,) = self.remembered()
        return connection

    def at(self, node: str, script: str) -> str:
        done = self.lab.node(node).run("bash", "-c", script)
        assert done.status == 0, done.output
        return done.output

    def begin(self, script: str) -> None:
        """Start something at the client that goes on by itself: OPEN connects its descriptor 3, ASK asks there."""
        script = script.replace("OPEN", f"exec 3<>/dev/tcp/{self.vip}/80").replace("ASK", QUESTION)
        self.at("client", f"setsid bash -c '{script}' >/dev/null 2>&1 </dev/null &")
        self.lab.sleep(0.1)


def holds_for(cluster: Cluster, state: str, timeout_s: int) -> None:
    """Assert that the only connection is in `state`, for so long and not much longer."""
    connection = cluster.only()
    assert connection.state == state
    assert timeout_s - MARGIN_S <= connection.expires_s <= timeout_s
    cluster.lab.sleep(connection.expires_s - MARGIN_S)
    assert cluster.only().state == state
    cluster.lab.sleep(2 * MARGIN_S + timeout_s / LATE_PART)
    assert cluster.remembered() == ()


@pytest.mark.parametrize(
    ("topology", "script", "state", "timeout_s"),
    [
        ("nat", HOLD, "ESTABLISHED", 15 * MINUTE_S),
        ("dr", HOLD, "ESTABLISHED", 15 * MINUTE_S),
        ("tun", HOLD, "ESTABLISHED", 15 * MINUTE_S),
        ("nat", FINISH, "TIME_WAIT", 2 * MINUTE_S),
        ("dr", FINISH, "FIN_WAIT", 2 * MINUTE_S),
        ("tun", FINISH, "FIN_WAIT", 2 * MINUTE_S),
    ],
    ids=lambda value: value if str(value).isidentifier() else "",
)
def test_states_and_their_times(kernel: RunningKernel, topology: str, script: str, state: str, timeout_s: int) -> None:
    with lab_in(kernel, topology) as lab:
        cluster = Cluster(lab)
        cluster.begin(script)
        holds_for(cluster, state, timeout_s)


def test_a_server_that_never_answers_is_remembered_for_a_minute(kernel: RunningKernel) -> None:
    with lab_in(kernel, "nat", real_servers=1) as lab:
        cluster = Cluster(lab)
        cluster.at("rs1", "ip route replace blackhole default")
        cluster.begin('timeout 0.5 bash -c "OPEN"')
        holds_for(cluster, "SYN_RECV", MINUTE_S)


def test_a_datagram_is_remembered_for_five_minutes(kernel: RunningKernel) -> None:
    """net/netfilter/ipvs/ip_vs_proto_udp.c: udp_timeouts."""
    with lab_in(kernel, "udp") as lab:
        cluster = Cluster(lab)
        cluster.at("client", f"echo once >/dev/udp/{cluster.vip}/{lab.topology.services[0].port}")
        lab.sleep(0.1)
        holds_for(cluster, "UDP", 5 * MINUTE_S)


def test_a_held_connection_lives_as_long_as_something_comes(kernel: RunningKernel) -> None:
    with lab_in(kernel, "dr") as lab:
        cluster = Cluster(lab)
        cluster.begin("OPEN; while sleep 600; do printf x >&3; done")
        for _ in range(6):
            lab.sleep(10 * MINUTE_S)
            assert cluster.only().state == "ESTABLISHED"


@pytest.mark.parametrize(
    ("how", "goes_on"),
    [("ipvsadm -e -t {vip}:80 -r {server} -g -w 0", True), ("ipvsadm -d -t {vip}:80 -r {server}", False)],
    ids=["weight 0", "deleted"],
)
def test_what_becomes_of_the_connections_of_a_server_that_is_taken_out(
    kernel: RunningKernel, how: str, goes_on: bool
) -> None:
    """New connections go elsewhere either way; with weight 0 those there are go on, when it is deleted they do not."""
    with lab_in(kernel, "dr") as lab:
        cluster = Cluster(lab)
        cluster.begin("OPEN; sleep 10; ASK; timeout 5 cat <&3 >/run/said; sleep 9999")
        server = cluster.only().destination
        cluster.at("director", how.format(vip=cluster.vip, server=server))
        lab.sleep(20)
        assert bool(cluster.at("client", "cat /run/said")) is goes_on
        assert len(lab.node("client").get(cluster.vip, times=4, first_port=20001)) == 4
        later = [one.destination for one in cluster.remembered() if 20001 <= one.client_port < 20005]
        assert len(later) == 4
        assert server not in later


@pytest.mark.parametrize(("option", "kept"), [(0, True), (1, False)])
def test_a_connection_whose_server_is_deleted(kernel: RunningKernel, option: int, kept: bool) -> None:
    """Forgotten at its next packet, or not (Documentation/networking/ipvs-sysctl.rst: expire_nodest_conn)."""
    with lab_in(kernel, "dr") as lab:
        cluster = Cluster(lab)
        cluster.at("director", f"sysctl -qw net.ipv4.vs.expire_nodest_conn={option}")
        cluster.begin("OPEN; sleep 10; printf x >&3; sleep 9999")
        cluster.at("director", f"ipvsadm -d -t {cluster.vip}:80 -r {cluster.only().destination}")
        lab.sleep(11)
        assert bool(cluster.remembered()) is kept


@pytest.mark.parametrize("option_value", [0, 1])
@pytest.mark.parametrize("how", ["weight 0", "deleted"])
@pytest.mark.parametrize("persistent", [False, True], ids=["plain", "persistent"])
def test_the_eight_cells_of_maintenance(kernel: RunningKernel, persistent: bool, how: str, option_value: int) -> None:
    """What is open, and what the same client opens next, when a server is taken out (ipvs-sysctl.rst).

    The option is expire_quiescent_template for weight 0, and expire_nodest_conn for a server that is deleted.
    """
    option, change = {
        "weight 0": ("expire_quiescent_template", "ipvsadm -e -t {vip}:80 -r {server} -g -w 0"),
        "deleted": ("expire_nodest_conn", "ipvsadm -d -t {vip}:80 -r {server}"),
    }[how]
    with lab_in(kernel, "dr") as lab:
        cluster = Cluster(lab)
        cluster.at("director", f"sysctl -qw net.ipv4.vs.{option}={option_value}")
        if persistent:
            cluster.at("director", f"ipvsadm -E -t {cluster.vip}:80 -s rr -p 3600")
        cluster.begin("OPEN; sleep 10; ASK; timeout 5 cat <&3 >/run/said; sleep 9999")
        opened = next(one for one in cluster.remembered() if one.client_port)
        cluster.at("director", change.format(vip=cluster.vip, server=opened.destination))
        (outcome,) = lab.node("client").get(cluster.vip, first_port=20001)
        assert outcome.status == "ok", outcome
        later = next(one for one in cluster.remembered() if one.client_port == 20001)
        stays_with_it = persistent and how == "weight 0" and not option_value
        assert (later.destination == opened.destination) is stays_with_it
        lab.sleep(20)
        assert bool(cluster.at("client", "cat /run/said")) is (how == "weight 0")
        is_forgotten = how == "deleted" and bool(option_value)
        ports = {one.client_port for one in cluster.remembered()}
        assert (opened.client_port not in ports) is is_forgotten


@pytest.mark.parametrize(("option", "goes_on"), [(0, False), (1, True)])
def test_a_connection_that_the_director_does_not_know(kernel: RunningKernel, option: int, goes_on: bool) -> None:
    """With sloppy_tcp any packet makes an entry, not only a SYN: so a standby may take over without a table."""
    with lab_in(kernel, "dr", real_servers=1) as lab:
        cluster = Cluster(lab)
        cluster.at("director", f"sysctl -qw net.ipv4.vs.sloppy_tcp={option}")
        cluster.begin("OPEN; sleep 2000; ASK; timeout 5 cat <&3 >/run/said; sleep 9999")
        lab.sleep(1900)
        assert cluster.remembered() == ()
        lab.sleep(200)
        assert bool(cluster.at("client", "cat /run/said")) is goes_on


@pytest.mark.parametrize(
    ("topology", "mode", "is_scheduled_again"),
    [("nat", 0, False), ("nat", 1, True), ("dr", 0, False), ("dr", 1, False), ("dr", 2, True)],
)
def test_a_port_that_comes_again(kernel: RunningKernel, topology: str, mode: int, is_scheduled_again: bool) -> None:
    """conn_reuse_mode: a SYN from the port of a finished connection. Where replies pass the director by, bit 2 counts.

    Documentation/networking/ipvs-sysctl.rst; net/netfilter/ipvs/ip_vs_core.c: is_new_conn_expected.
    """
    with lab_in(kernel, topology) as lab:
        cluster = Cluster(lab)
        cluster.at("director", f"sysctl -qw net.ipv4.vs.conn_reuse_mode={mode}")
        servers = []
        for _ in range(2):
            (outcome,) = lab.node("client").get(cluster.vip, first_port=20001)
            assert outcome.status == "ok"
            servers.append(max(cluster.remembered(), key=lambda one: one.expires_s).destination)
            # The client's own TIME_WAIT lasts a minute, the director's memory two.
            lab.sleep(61)
        assert (servers[0] != servers[1]) is is_scheduled_again
