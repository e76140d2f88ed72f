"""ipvsadm's texts in the forms people have them: long options, defaults, comments, listings of several versions."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lvslab.errors import BadInput, BadInputs
from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, FwmarkKey, IntendedService, Persistence, Service
from lvslab.ipvs.text import lost_by_saving, read_listing, read_saved, saved_text
from lvslab.ipvs.text.losses import printed_order
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelChecksum, TunnelKind
from tests.unit.ipvs.support import TABLE

VIP, RIP = ip_address("192.0.2.100"), ip_address("198.51.100.11")
WEB = AddressKey(Protocol.TCP, VIP, 80)


def only(text: str) -> IntendedService:
    (written,) = read_saved(text, "t")
    return written.intended


SERVICES = [
    ("-A -t 192.0.2.100:80", Service(WEB, "wlc")),
    ("ipvsadm -A -t 192.0.2.100:80 -s rr", Service(WEB, "rr")),
    ("--add-service --tcp-service 192.0.2.100:80 --scheduler=rr", Service(WEB, "rr")),
    ("-A -t 192.0.2.100:80 -p -s rr", Service(WEB, "rr", Persistence(360))),
    ("-A -t 192.0.2.100:80 -s rr -p", Service(WEB, "rr", Persistence(360))),
    ("-A -t 192.0.2.100:80 -s rr -p 9 -M 255.255.255.255", Service(WEB, "rr", Persistence(9))),
    ("-A -t 192.0.2.100 -s rr -p 9", Service(AddressKey(Protocol.TCP, VIP, 0), "rr", Persistence(9))),
    (
        "-A -t 2001:db8::1 -s rr -p 9 -M 64",
        Service(AddressKey(Protocol.TCP, ip_address("2001:db8::1"), 0), "rr", Persistence(9, 64)),
    ),
    ("-A --sctp-service 192.0.2.100:80 -s rr", Service(AddressKey(Protocol.SCTP, VIP, 80), "rr")),
    ("-A -f -1 -s rr", Service(FwmarkKey(2**32 - 1), "rr")),
    ("-A -f 7 -6 -s rr -o", Service(FwmarkKey(7, Family.IPV6), "rr", flags=frozenset({Flag.ONE_PACKET}))),
]


@pytest.mark.parametrize(("text", "service"), SERVICES, ids=[text for text, _ in SERVICES])
def test_a_service_is_read_with_ipvsadms_defaults(text: str, service: Service) -> None:
    assert only(text) == IntendedService(service, ())


SERVERS = [
    ("-r 198.51.100.11", Destination(RIP, 80, Method.DR)),
    ("-r 198.51.100.11:8080 -m", Destination(RIP, 8080, Method.NAT)),
    ("-r 198.51.100.11 --ipip --weight=0", Destination(RIP, 80, Method.TUN, 0)),
    ("--real-server 198.51.100.11:80 --gatewaying -x 9", Destination(RIP, 80, Method.DR, upper_threshold=9)),
    (
        "-r 198.51.100.11 -i --tun-type gue --tun-port 6080 --tun-remcsum",
        Destination(RIP, 80, Method.TUN, tunnel=Tunnel(TunnelKind.GUE, 6080, TunnelChecksum.REMOTE)),
    ),
]


@pytest.mark.parametrize(("text", "server"), SERVERS, ids=[text for text, _ in SERVERS])
def test_a_server_is_read_with_ipvsadms_defaults(text: str, server: Destination) -> None:
    assert only(f"-A -t 192.0.2.100:80\n-a -t 192.0.2.100:80 {text}\n").destinations == (server,)


def test_comments_and_empty_lines_are_passed_over_and_lines_counted() -> None:
    (written,) = read_saved("# saved\n\n-A -t 192.0.2.100:80\n#\n-a -t 192.0.2.100:80 -r 198.51.100.11\n", "t")
    assert (written.line, [item.line for item in written.destinations]) == (3, [5])


def test_all_bad_lines_are_named_at_once() -> None:
    with pytest.raises(BadInputs) as caught:
        read_saved("-A -t x:80\n-A -t 192.0.2.100:80\n-B\n", "t")
    assert [fault.where for fault in caught.value.faults] == ["t:1", "t:3"]


def test_ipvsadm_prints_this_of_the_recorded_table() -> None:
    """The text is that of ipvsadm 1.31 for the recorded table, but for order, thresholds and the large mark."""
    assert saved_text(TABLE).splitlines() == [
        "-A -t 192.0.2.100:80 -s wrr",
        "-a -t 192.0.2.100:80 -r 198.51.100.11:8080 -m -w 3",
        "-a -t 192.0.2.100:80 -r 198.51.100.12:80 -g -w 2 -x 200 -y 100",
        "-a -t 192.0.2.100:80 -r 198.51.100.13:80 -i -w 1 --tun-type ipip",
        "-a -t 192.0.2.100:80 -r 198.51.100.14:80 -i -w 1 --tun-type gue --tun-port 5555 --tun-remcsum",
        "-a -t 192.0.2.100:80 -r 198.51.100.15:80 -i -w 0 --tun-type gre --tun-csum",
        "-a -t 192.0.2.100:80 -r [2001:db8:1::16]:80 -i -w 1 --tun-type ipip",
        "-A -u 192.0.2.100:5060 -s rr -p 60 --pe sip",
        "-a -u 192.0.2.100:5060 -r 198.51.100.11:5060 -m -w 1",
        "-A -u [2001:db8::100]:53 -s sh -p 360 -M 64 -o -b sh-port",
        "-a -u [2001:db8::100]:53 -r [2001:db8:1::11]:53 -g -w 1",
        "-A -f 7 -s mh -p 60 -M 255.255.255.0 -b mh-fallback",
        "-a -f 7 -r 198.51.100.11:0 -g -w 1",
        "-A -f 4294967295 -6 -s wlc",
    ]


def test_what_the_recorded_table_would_lose() -> None:
    assert lost_by_saving(TABLE) == (
        "service TCP 192.0.2.100:80: thresholds of 198.51.100.12:80: -x 200 -y 100",
        "service FWM 4294967295 IPv6: mark 4294967295 is printed as -1, which ipvsadm -R refuses",
    )


def test_a_flag_without_a_name_is_lost_with_its_service() -> None:
    item = IntendedService(Service(WEB, "sh", flags=frozenset({Flag.SCHEDULER_3})), ())
    assert "flag-3 of sh is printed as -b without a name" in lost_by_saving((item,))[0]
    assert lost_by_saving((IntendedService(Service(WEB, "sh", flags=frozenset({Flag.SH_PORT})), ()),)) == ()


@pytest.mark.parametrize(
    ("addresses", "printed"),
    [
        (["10.0.0.2", "10.0.0.1"], ["10.0.0.1", "10.0.0.2"]),
        (["10.0.0.1", "192.0.2.1"], ["192.0.2.1", "10.0.0.1"]),
        (["100.64.0.1", "10.0.0.1"], ["10.0.0.1", "100.64.0.1"]),
        (["10.0.0.1", "2001:db8::1", "198.51.100.1"], ["198.51.100.1", "10.0.0.1", "2001:db8::1"]),
        (["2001:db8::2", "2001:db8::1"], ["2001:db8::1", "2001:db8::2"]),
    ],
)
def test_ipvsadm_sorts_by_differences_of_32_bits(addresses: list[str], printed: list[str]) -> None:
    servers = [Destination(ip_address(text), 80, Method.NAT) for text in addresses]
    assert [str(each.address) for each in printed_order(servers)] == printed


def test_addresses_that_sort_in_a_circle_have_no_order_to_keep() -> None:
    circle = [Destination(ip_address(text), 80, Method.NAT) for text in ("10.0.0.1", "100.64.0.1", "192.0.2.1")]
    for start in range(3):
        item = IntendedService(Service(WEB, "rr"), (*circle[start:], *circle[:start]))
        assert "one that depends on ipvsadm's C library" in lost_by_saving((item,))[0]


TITLE = (
    "Prot LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn\n"
)
TUNNELS = TITLE.replace("Forward Weight", "Forward TunnelInfo    Weight")


def test_a_listing_with_tunnels_is_read() -> None:
    rows = "TCP  192.0.2.100:80 rr\n  -> 198.51.100.11:80 Tunnel gue:6080:r+c 1 0 0\n"
    rows += "  -> 198.51.100.12:80 Masq n/a 2 0 0\n"
    (written,) = read_listing(TUNNELS + rows, "t")
    tunnel = Tunnel(TunnelKind.GUE, 6080, TunnelChecksum.REMOTE)
    assert written.intended.destinations == (
        Destination(RIP, 80, Method.TUN, tunnel=tunnel),
        Destination(ip_address("198.51.100.12"), 80, Method.NAT, 2),
    )


def test_a_text_without_a_title_is_no_listing() -> None:
    with pytest.raises(BadInput, match="no title line"):
        read_listing("TCP  192.0.2.100:80 rr\n", "t")
