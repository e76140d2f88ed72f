"""The spool reader, on blocks laid out as if_packet.h says."""

from __future__ import annotations

from pathlib import Path
from struct import pack

import pytest

from lvslab.capture.frame import Direction, LinkType
from lvslab.capture.spool import read_spool
from lvslab.errors import KernelFault

NODES = ("client", "director")
INTERFACES = {("client", 1): "lo", ("client", 2): "eth0", ("director", 2): "eth0", ("director", 3): "tunl0"}

BLOCK_HEADER_BYTES = 48
DATA_AT = 82
"""As the kernel does: headers, then room so that the network header is aligned."""


def packet(
    data: bytes,
    *,
    at: tuple[int, int] = (1_700_000_000, 1),
    ifindex: int = 2,
    hatype: int = 1,
    pkttype: int = 0,
    status: int = 1,
    wire_bytes: int | None = None,
    vlan_tci: int = 0,
    last: bool = False,
    link_header: int = 0,
) -> bytes:
    size = -(-(DATA_AT + len(data)) // 8) * 8
    header = pack("=IIIIIIH", 0 if last else size, *at, len(data), wire_bytes or len(data), status, DATA_AT)
    header += pack("=H", DATA_AT + link_header)
    header += pack("=IIHH8x", 0, vlan_tci, 0, 0)
    address = pack("=HHiHBB8x", 17, 0x0008, ifindex, hatype, pkttype, 6)
    return (header + address).ljust(DATA_AT, b"\0") + data.ljust(size - DATA_AT, b"\0")


def block(*packets: bytes, node: int = 0, count: int | None = None) -> bytes:
    body = b"".join(packets)
    length = BLOCK_HEADER_BYTES + len(body)
    header = pack("=IIIIIIQIIII", 3, 0, 1, len(packets), BLOCK_HEADER_BYTES, length, 1, 0, 0, 0, 0)
    return pack("<4sIII", b"LVSB", node, len(packets) if count is None else count, length) + header + body


def spool(path: Path, *blocks: bytes) -> Path:
    file = path / "capture.spool"
    file.write_bytes(b"".join(blocks))
    return file


def test_frames_of_all_nodes_are_merged_in_order_of_time(tmp_path: Path) -> None:
    client = block(packet(b"third", at=(1_700_000_000, 30)), packet(b"first", at=(1_700_000_000, 10), last=True))
    director = block(packet(b"second", at=(1_700_000_000, 20), last=True), node=1)
    capture = read_spool(spool(tmp_path, client, director), NODES, INTERFACES, {"director": 4})
    seen = [(frame.number, frame.where, frame.time_ns % 1000, frame.data) for frame in capture.frames]
    assert seen == [
        (1, "client:eth0", 10, b"first"),
        (2, "director:eth0", 20, b"second"),
        (3, "client:eth0", 30, b"third"),
    ]
    assert capture.drops == {"director": 4}
    assert capture.lost == 4


def test_frames_of_one_moment_keep_their_order(tmp_path: Path) -> None:
    file = spool(tmp_path, block(packet(b"a"), packet(b"b"), packet(b"c", last=True)))
    assert [frame.data for frame in read_spool(file, NODES, INTERFACES, {}).frames] == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("pkttype", "direction"),
    [(0, Direction.IN), (1, Direction.IN), (2, Direction.IN), (3, Direction.OVERHEARD), (4, Direction.OUT)],
)
def test_direction_comes_from_the_packet_type(tmp_path: Path, pkttype: int, direction: Direction) -> None:
    (frame,) = read_spool(spool(tmp_path, block(packet(b"x", pkttype=pkttype))), NODES, INTERFACES, {}).frames
    assert frame.direction is direction


@pytest.mark.parametrize(
    ("hatype", "link_type"),
    [(1, LinkType.ETHERNET), (772, LinkType.ETHERNET)]
    + [(hatype, LinkType.RAW_IP) for hatype in (768, 769, 776, 778, 65534)],
)
def test_link_type_comes_from_the_hardware_type(tmp_path: Path, hatype: int, link_type: LinkType) -> None:
    (frame,) = read_spool(spool(tmp_path, block(packet(b"x", hatype=hatype))), NODES, INTERFACES, {}).frames
    assert frame.link_type is link_type


@pytest.mark.parametrize(("hatype", "data"), [(1, b"outer inner"), (778, b"inner")])
def test_the_outer_header_is_no_part_of_what_a_gre_device_shows(tmp_path: Path, hatype: int, data: bytes) -> None:
    recorded = packet(b"outer inner", hatype=hatype, link_header=6)
    (frame,) = read_spool(spool(tmp_path, block(recorded)), NODES, INTERFACES, {}).frames
    assert (frame.data, frame.wire_bytes) == (data, len(data))


def test_status_tells_of_checksum_and_vlan(tmp_path: Path) -> None:
    offloaded = packet(b"x", status=1 | 0x8)
    tagged = packet(b"y", status=1 | 0x10, vlan_tci=0x2000 | 100)
    plain = packet(b"z", vlan_tci=100, last=True)
    frames = read_spool(spool(tmp_path, block(offloaded, tagged, plain)), NODES, INTERFACES, {}).frames
    assert [(frame.checksum_ready, frame.vlan) for frame in frames] == [(False, None), (True, 100), (True, None)]


def test_a_frame_cut_short_keeps_its_length_on_the_wire(tmp_path: Path) -> None:
    (frame,) = read_spool(spool(tmp_path, block(packet(b"cut", wire_bytes=1500))), NODES, INTERFACES, {}).frames
    assert (frame.data, frame.wire_bytes) == (b"cut", 1500)


def test_an_empty_spool_is_an_empty_capture(tmp_path: Path) -> None:
    assert read_spool(spool(tmp_path), NODES, INTERFACES, {}).frames == ()


WHOLE = block(packet(b"one"), packet(b"two", last=True))


@pytest.mark.parametrize("kept", range(1, len(WHOLE)))
def test_a_torn_spool_is_refused_wherever_it_ends(tmp_path: Path, kept: int) -> None:
    file = spool(tmp_path, WHOLE, WHOLE[:kept])
    with pytest.raises(KernelFault, match=rf"capture\.spool: byte {len(WHOLE)}: the capture spool ends inside"):
        read_spool(file, NODES, INTERFACES, {})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PCAP" + WHOLE[4:], "not a record"),
        (block(packet(b"x"), node=2), "not a record"),
        (block(packet(b"x"), count=2), "holds 1 packets, its record says 2"),
        (block(packet(b"x", ifindex=9)), "interface 9 of client"),
        (pack("<4sIII", b"LVSB", 0, 0, 4) + b"\0" * 4, "shorter than its header"),
        (WHOLE[:16] + WHOLE[16:32] + pack("=I", 9999) + WHOLE[36:], "ends inside a packet"),
    ],
    ids=["magic", "node", "count", "interface", "short block", "bad offset"],
)
def test_nonsense_in_a_spool_is_named(tmp_path: Path, content: bytes, what: str) -> None:
    with pytest.raises(KernelFault, match=what):
        read_spool(spool(tmp_path, content), NODES, INTERFACES, {})
