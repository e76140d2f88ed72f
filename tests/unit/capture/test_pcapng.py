"""pcapng: what is written reads back, others can read it, and files of others are read or clearly refused."""

from __future__ import annotations

import subprocess
from ipaddress import ip_address
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap, wrpcap

from lvslab.capture.frame import Capture, Direction, Frame, LinkType
from lvslab.capture.pcapng import read_capture, write_capture
from lvslab.errors import BadInput
from tests.unit.capture.frames import TIME_NS, frame, raw

PACKET = IP(src="198.51.100.10", dst="192.0.2.100") / UDP(sport=1000, dport=53) / b"hello"
FRAMED = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / PACKET

CAPTURE = Capture(
    (
        frame(FRAMED, number=1, direction=Direction.OUT, node="client"),
        frame(FRAMED, number=2, time_ns=TIME_NS + 1, checksum_ready=False),
        frame(FRAMED, number=3, time_ns=TIME_NS + 2, direction=Direction.OVERHEARD, node="rs2", vlan=100),
        raw(PACKET, number=4, time_ns=TIME_NS + 3, node="rs1", interface="tunl0"),
        frame(bytes(FRAMED)[:40], number=5, time_ns=TIME_NS + 4, wire_bytes=len(FRAMED)),
    ),
    drops={"director": 3, "rs1": 0, "rs3": 7},
    comment="topology\nname: dr, 单网段",
)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "capture.pcapng"
    write_capture(path, CAPTURE, names={ip_address("192.0.2.100"): "VIP", ip_address("2001:db8::1"): "VIP6"})
    return path


def output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


def test_round_trip_keeps_everything(stored: Path) -> None:
    assert read_capture(stored) == CAPTURE


FRAMES = st.builds(
    Frame,
    number=st.just(0),
    time_ns=st.integers(0, 2**63),
    node=st.sampled_from(["client", "director", "rs-1"]),
    interface=st.sampled_from(["lo", "eth0", "eth0.100"]),
    direction=st.sampled_from(Direction),
    link_type=st.just(LinkType.ETHERNET),
    data=st.binary(max_size=100),
    wire_bytes=st.integers(0, 70_000),
    checksum_ready=st.booleans(),
    vlan=st.none() | st.integers(0, 4095),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(FRAMES, max_size=20),
    st.dictionaries(st.sampled_from(["client", "director", "rs9"]), st.integers(0, 2**63)),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
)
def test_round_trip_of_any_capture(tmp_path: Path, frames: list[Frame], drops: dict[str, int], comment: str) -> None:
    in_order = sorted(frames, key=lambda item: item.time_ns)
    numbered = tuple(_numbered(item, number) for number, item in enumerate(in_order, 1))
    capture = Capture(numbered, drops, comment)
    path = tmp_path / "any.pcapng"
    write_capture(path, capture)
    assert read_capture(path) == capture


def _numbered(item: Frame, number: int) -> Frame:
    fields = {name: getattr(item, name) for name in Frame.__dataclass_fields__}
    return Frame(**(fields | {"number": number}))


def test_tcpdump_reads_it(stored: Path) -> None:
    lines = output("tcpdump", "-nn", "--nano", "-tt", "-r", str(stored)).splitlines()
    assert len(lines) == len(CAPTURE.frames)
    assert lines[3] == "1700000000.123456792 IP 198.51.100.10.1000 > 192.0.2.100.53: " + lines[3].split(": ", 1)[1]


def test_tshark_shows_interfaces_flags_times_and_names(stored: Path) -> None:
    fields = ("frame.interface_name", "frame.packet_flags_direction", "frame.time_epoch", "frame.len", "ip.dst_host")
    wanted = [argument for name in fields for argument in ("-e", name)]
    lines = output("tshark", "-r", str(stored), "-N", "n", "-T", "fields", *wanted).splitlines()
    rows = [line.split("\t") for line in lines]
    assert [row[0] for row in rows] == ["client:eth0", "director:eth0", "rs2:eth0", "rs1:tunl0", "director:eth0"]
    assert [int(row[1], 16) for row in rows] == [2, 1, 1, 1, 1]
    assert rows[1][2] == "1700000000.123456790"
    assert rows[4][3] == str(len(FRAMED))
    assert rows[0][4] == "VIP"


def test_capinfos_shows_comment_and_drops(stored: Path) -> None:
    shown = output("capinfos", str(stored))
    assert "name: dr, 单网段" in shown
    assert "rs3:any" in shown


def test_scapy_reads_it(stored: Path) -> None:
    packets = rdpcap(str(stored))
    assert [bytes(packet)[-len(bytes(PACKET)) :] for packet in packets[:4]] == [bytes(PACKET)] * 4
    assert int(packets[1].time * 10**9) == TIME_NS + 1


def test_what_editcap_and_mergecap_write_is_read(stored: Path, tmp_path: Path) -> None:
    first, rest, merged = (tmp_path / name for name in ("first.pcapng", "rest.pcapng", "merged.pcapng"))
    output("editcap", "-r", str(stored), str(first), "1-2")
    output("editcap", str(stored), str(rest), "1-2")
    output("mergecap", "-w", str(merged), str(rest), str(first))
    assert read_capture(first).frames == CAPTURE.frames[:2]
    assert read_capture(merged).frames == CAPTURE.frames


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    total = 12 + len(body)
    return pack(order + "II", kind, total) + body + pack(order + "I", total)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def foreign(  # a file as another program might write it
    order: str = "<",
    *,
    name: bytes | None = b"director:eth0",
    link_type: int = 1,
    interface_options: bytes = b"",
    ticks: int = 1_000_001,
    flags: int | None = 1,
    packet_kind: int = 6,
    interface: int = 0,
) -> bytes:
    section = block(0x0A0D0D0A, pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    named = option(2, name, order) if name is not None else b""
    described = block(1, pack(order + "HHI", link_type, 0, 65535) + named + interface_options, order)
    unknown = block(0x0BAD, b"\0" * 8, order)
    data = bytes(FRAMED)
    packet = pack(order + "IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    flagged = option(2, pack(order + "I", flags), order) if flags is not None else b""
    return section + described + unknown + block(packet_kind, packet + data + bytes(-len(data) % 4) + flagged, order)


def read_bytes(tmp_path: Path, content: bytes) -> Capture:
    path = tmp_path / "foreign.pcapng"
    path.write_bytes(content)
    return read_capture(path)


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders_and_unknown_blocks_are_read(tmp_path: Path, order: str) -> None:
    (seen,) = read_bytes(tmp_path, foreign(order)).frames
    assert (seen.where, seen.direction, seen.data) == ("director:eth0", Direction.IN, bytes(FRAMED))


@pytest.mark.parametrize(
    ("options", "ticks", "time_ns"),
    [
        (b"", 1_000_001, 1_000_001_000),
        (option(9, b"\x03"), 1_500, 1_500_000_000),
        (option(9, b"\x8a"), 1536, 1_500_000_000),
        (option(14, pack("<q", 10)), 5, 10_000_005_000),
        (option(9, b"\x0c"), 1_500_000_000_000, 1_500_000_000),
    ],
    ids=["microseconds by default", "milliseconds", "1/1024 s", "offset", "picoseconds"],
)
def test_any_time_resolution_is_read(tmp_path: Path, options: bytes, ticks: int, time_ns: int) -> None:
    (seen,) = read_bytes(tmp_path, foreign(interface_options=options, ticks=ticks)).frames
    assert seen.time_ns == time_ns


def test_sections_with_interfaces_of_their_own_are_read(tmp_path: Path) -> None:
    later = foreign(">", name=b"rs1:eth0", ticks=2_000_000)
    capture = read_bytes(tmp_path, later + foreign(ticks=1_000_000))
    assert [(seen.number, seen.where) for seen in capture.frames] == [(2, "director:eth0"), (1, "rs1:eth0")]


def test_raw_ip_link_types_of_others_are_read(tmp_path: Path) -> None:
    (seen,) = read_bytes(tmp_path, foreign(link_type=101)).frames
    assert seen.link_type is LinkType.RAW_IP


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (foreign(name=b"eth0"), "expected if_name node:interface, such as director:eth0, found 'eth0'"),
        (foreign(name=None), "found no name"),
        (foreign(name=b":eth0"), "does not say which node"),
        (foreign(flags=None), "does not say whether it came in or went out"),
        (foreign(flags=0), "does not say whether it came in or went out"),
        (foreign(link_type=113), "link type that is not supported"),
        (foreign(packet_kind=3), "tells neither direction nor time"),
        (foreign(interface=1), "interface that the file does not describe"),
        (b"", "an empty file"),
        (b"name: dr\n" * 3, "not a capture file"),
        (foreign()[:8] + b"\0\0\0\0" + foreign()[12:], "without a byte-order magic"),
        (foreign()[:-4] + b"\0\0\0\0", "two lengths differ"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_with_the_reason(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_bytes(tmp_path, content)
    assert message in str(caught.value)
    assert "foreign.pcapng" in str(caught.value)


def test_classic_pcap_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "old.pcap"
    wrpcap(str(path), [FRAMED])
    with pytest.raises(BadInput, match=r"expected pcapng, found pcap; .*editcap"):
        read_capture(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_capture(tmp_path / "none.pcapng")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot write the capture"):
        write_capture(tmp_path / "none" / "x.pcapng", CAPTURE)


def test_a_file_cut_short_is_refused_except_between_blocks(stored: Path, tmp_path: Path) -> None:
    content = stored.read_bytes()
    ends = _block_ends(content)
    for kept in range(1, len(content)):
        if kept not in ends:
            with pytest.raises(BadInput, match=r"cut short|not a capture file"):
                read_bytes(tmp_path, content[:kept])


def _block_ends(content: bytes) -> set[int]:
    ends, at = set(), 0
    while at < len(content):
        at += int.from_bytes(content[at + 4 : at + 8], "little")
        ends.add(at)
    return ends


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damages=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_file_never_ends_in_a_traceback(stored: Path, tmp_path: Path, damages: list[Any]) -> None:
    content = bytearray(stored.read_bytes())
    for offset, value in damages:
        content[offset % len(content)] = value
    try:
        read_bytes(tmp_path, bytes(content))
    except BadInput as error:
        assert "foreign.pcapng" in str(error)
