"""Answers recorded from a real kernel, read by the decoder and, independently, by ipvsadm."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_address

import pytest

from lvslab.errors import KernelFault
from lvslab.ipvs import answers
from lvslab.ipvs.model import Destination, Flag, FwmarkKey, Info, Service, ServiceEntry, SyncDaemon, SyncRole, Timeouts
from lvslab.ipvs.table import IpvsTable
from lvslab.topology.model import Method, TunnelChecksum, TunnelKind
from tests.unit.ipvs.support import FIXTURES, TABLE, RecordedKernel, recorded


def test_the_recorded_table_is_the_one_that_was_installed() -> None:
    entries = IpvsTable(RecordedKernel(), "director").services()
    assert [entry.service for entry in entries] == [item.service for item in TABLE]
    for entry, item in zip(entries, TABLE, strict=True):
        assert tuple(each.destination for each in entry.destinations) == tuple(reversed(item.destinations))


def test_statistics_and_connection_counts_are_those_of_the_recorded_traffic() -> None:
    web = IpvsTable(RecordedKernel(), "director").services()[0]
    connections = [(each.destination.port, each.active, each.stats.connections) for each in web.destinations]
    assert connections == [(80, 1, 1), (80, 0, 0), (80, 1, 1), (80, 1, 1), (80, 1, 1), (8080, 0, 0)]
    assert (web.stats.connections, web.stats.packets_in, web.stats.bytes_in) == (4, 12, 720)
    assert web.stats.bytes_in == sum(each.stats.bytes_in for each in web.destinations)


def test_the_recorded_table_reads_as_ipvsadm_printed_it() -> None:
    entries = IpvsTable(RecordedKernel(), "director").services()
    ours = sorted(line for entry in entries for line in _saved(entry))
    assert ours == sorted((FIXTURES / "ipvsadm-Sn.txt").read_text().splitlines())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (answers.family_id(recorded("family")[0]), 28),
        (answers.info(recorded("info")[0]), Info((1, 2, 1), 4096)),
        (answers.timeouts(recorded("timeouts")[0]), Timeouts(900, 120, 300)),
        (
            answers.daemon(recorded("daemons")[0]),
            SyncDaemon(SyncRole.MASTER, "d0", 5, 1472, ip_address("224.0.0.81"), 8848, 1),
        ),
        (
            answers.daemon(recorded("daemons")[1]),
            SyncDaemon(SyncRole.BACKUP, "d0", 6, 1400, ip_address("ff02::51"), 9000, 3),
        ),
    ],
)
def test_settings_are_read_as_the_kernel_sent_them(value: object, expected: object) -> None:
    assert value == expected


def test_a_reply_cut_short_is_a_fault_with_the_bytes_in_it() -> None:
    whole = recorded("services")[0]
    for length in range(0, len(whole), 4):
        with pytest.raises(KernelFault, match=f"one whole message, found ?{whole[: min(length, 64)].hex()}"):
            answers.service(whole[:length])


def test_a_nested_attribute_that_runs_over_its_end_is_a_fault() -> None:
    whole = recorded("services")[0]
    first = whole.index(b"\x06\x00\x01\x00\x02\x00")
    with pytest.raises(KernelFault, match="kernel's answer"):
        answers.service(whole[:first] + b"\xff\xff" + whole[first + 2 :])


def test_a_missing_attribute_is_named() -> None:
    with pytest.raises(KernelFault, match="IPVS_CMD_ATTR_DEST"):
        answers.destination(recorded("services")[0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"\x08\x00\x03\x00\x00\x00\x00\x00", b"\x08\x00\x03\x00\x04\x00\x00\x00", "unknown forwarding method"),
        (b"\x05\x00\x0d\x00\x00", b"\x05\x00\x0d\x00\x09", "unknown tunnel type"),
        (b"\x06\x00\x0b\x00\x02", b"\x06\x00\x0b\x00\x07", "unknown address family"),
    ],
)
def test_a_value_without_a_word_is_a_fault(old: bytes, new: bytes, message: str) -> None:
    masquerading = recorded("destinations-0")[-1]
    assert old in masquerading
    with pytest.raises(KernelFault, match=message):
        answers.destination(masquerading.replace(old, new))


def test_a_netmask_with_gaps_is_a_fault() -> None:
    marked = recorded("services")[3]
    assert b"\xff\xff\xff\x00" in marked
    with pytest.raises(KernelFault, match="contiguous"):
        answers.service(marked.replace(b"\x08\x00\x09\x00\xff\xff\xff\x00", b"\x08\x00\x09\x00\xff\x00\xff\x00"))


def test_scheduler_bits_are_numbered_where_the_scheduler_has_no_name_for_them() -> None:
    marked = recorded("services")[3]
    renamed = marked.replace(b"mh\0", b"lc\0")
    assert answers.service(renamed).service.flags == {Flag.SCHEDULER_1}


def _saved(entry: ServiceEntry) -> list[str]:
    """Write an entry as `ipvsadm -Sn` does; it prints firewall marks as signed numbers."""
    service = entry.service
    head = f"-A {_key(service)} -s {service.scheduler}{_persistence(service)}{_flags(service)}"
    return [head] + [
        f"-a {_key(service, member=True)} -r {each.destination} {_method(each.destination)}"
        for each in entry.destinations
    ]


def _key(service: Service, *, member: bool = False) -> str:
    key = service.key
    if isinstance(key, FwmarkKey):
        signed = key.mark - 2**32 if key.mark >= 2**31 else key.mark
        return f"-f {signed}" + (" -6" if key.family.name == "IPV6" else "")
    protocol, endpoint = str(key).split(maxsplit=1)
    return f"-{protocol[0].lower()} {endpoint}"


def _persistence(service: Service) -> str:
    if service.persistence is None:
        return ""
    text = f" -p {service.persistence.timeout_s}"
    prefix = service.persistence.prefix
    if prefix is not None:
        ipv4 = service.key.family.name == "IPV4"
        text += f" -M {IPv4Network((0, prefix)).netmask if ipv4 else prefix}"
    return text + (f" --pe {service.persistence.engine}" if service.persistence.engine else "")


def _flags(service: Service) -> str:
    named = sorted(service.flags - {Flag.ONE_PACKET})
    return (" -o" if Flag.ONE_PACKET in service.flags else "") + (f" -b {','.join(named)}" if named else "")


def _method(destination: Destination) -> str:
    letter = {Method.NAT: "-m", Method.DR: "-g", Method.TUN: "-i"}[destination.method]
    text = f"{letter} -w {destination.weight}"
    if destination.method is not Method.TUN:
        return text
    tunnel = destination.tunnel
    text += f" --tun-type {tunnel.kind}"
    if tunnel.kind is TunnelKind.GUE:
        text += f" --tun-port {tunnel.port}"
    return text + (f" --tun-{tunnel.checksum}" if tunnel.checksum is not TunnelChecksum.NONE else "")
