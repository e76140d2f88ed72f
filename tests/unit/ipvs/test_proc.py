"""The kernel's text files, as recorded from a real kernel and in forms its source allows."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lvslab.errors import KernelFault
from lvslab.ipvs import proc
from lvslab.ipvs.model import Connection, Stats
from tests.unit.ipvs.support import FIXTURES

TITLES = "Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Expires PEName PEData\n"
VIP = ip_address("192.0.2.100")


def test_recorded_connections_are_read() -> None:
    connections = proc.connections((FIXTURES / "ip_vs_conn.txt").read_text())
    assert len(connections) == 7
    by_source = {(each.virtual_port, each.client_port): each for each in connections}
    assert by_source[80, 20000] == Connection(
        "TCP", VIP, 20000, VIP, 80, ip_address("2001:db8:1::16"), 80, "SYN_RECV", 58
    )
    assert by_source[5060, 0] == Connection(
        "UDP", VIP, 0, VIP, 5060, ip_address("198.51.100.11"), 5060, "NONE", 55, "sip", "42@x"
    )
    assert {each.client for each in connections} == {VIP, ip_address("2001:db8::")}
    assert {each.client_port for each in connections if each.virtual_port == 80} == {20000, 20001, 20002, 20003}


def test_a_template_that_spans_ports_is_read() -> None:
    line = "IP  C0000264 0000 00000005 0000 C633640B 0000 NONE             59\n"
    (template,) = proc.connections(TITLES + line)
    assert (template.protocol, template.virtual, template.client_port) == ("IP", ip_address("0.0.0.5"), 0)


def test_an_empty_table_has_no_connections() -> None:
    assert proc.connections(TITLES) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ip_vs_conn:1: .*column titles, found 'nothing'"),
        ("Proto\n", "ip_vs_conn:1: .*column titles"),
        (TITLES + "TCP C0000264 4E20\n", "ip_vs_conn:2: .*nine columns"),
        (TITLES + "TCP C00002 4E20 C0000264 0050 C633640C 0050 SYN_RECV 58\n", "ip_vs_conn:2"),
        (TITLES + "TCP C0000264 WXYZ C0000264 0050 C633640C 0050 SYN_RECV 58\n", "ip_vs_conn:2"),
    ],
)
def test_connections_of_another_form_are_a_fault_with_the_line(text: str, message: str) -> None:
    with pytest.raises(KernelFault, match=message):
        proc.connections(text)


def test_totals_are_immediate_where_the_estimators_row_still_says_zero() -> None:
    text = (FIXTURES / "ip_vs_stats_percpu.txt").read_text()
    assert "  ~        0        0" in text
    assert proc.totals(text) == Stats(connections=6, packets_in=6, bytes_in=432)


def test_totals_add_up_all_cpus() -> None:
    text = "CPU Conns\n  0 1 2 3 4 5\n  A A 14 1E 28 FFFFFFFFF\n  ~ 0 0 0 0 0\n\n Conns/s\n 9 9 9 9 9\n"
    assert proc.totals(text) == Stats(11, 22, 33, 44, 0xFFFFFFFFF + 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ip_vs_stats_percpu:1: .*from CPU to ~"),
        ("CPU Conns\n", "ip_vs_stats_percpu:1"),
        ("CPU Conns\n  0 1 2\n  ~ 0 0 0 0 0\n", "ip_vs_stats_percpu:2: .*five hexadecimal"),
    ],
)
def test_counters_of_another_form_are_a_fault_with_the_line(text: str, message: str) -> None:
    with pytest.raises(KernelFault, match=message):
        proc.totals(text)
