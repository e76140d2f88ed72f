"""What of the Python API needs no kernel: stored captures, names, and the rendered topology they carry."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import cast

import pytest

from lvslab.capture.pcapng import write_capture
from lvslab.errors import BadInput
from lvslab.lab import LabNode, Recording, address_labels, examine_stored, name_records, shipped_topologies, topology_of
from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology import load_text, load_topology
from lvslab.topology.model import Setting
from lvslab.verify.result import Verdict
from tests.unit.verify import scenes
from tests.unit.verify.scenes import NAT, topology
from tests.unit.walk import build

MODEL = topology(NAT)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "nat.pcapng"
    write_capture(path, replace(build.nat(2), comment=NAT.replace("SERVERS", "1")))
    return path


def test_a_stored_capture_is_judged_without_a_kernel(stored: Path) -> None:
    found = examine_stored(stored, MODEL)
    assert (found.result.topology, found.result.kernel, found.result.backend) == ("nat", "stored", "capture")
    assert found.result.frames == len(build.nat(2).frames)
    assert scenes.names(found.result.expectations, Verdict.SKIP) == {"statistics"}
    assert found.result.verdict is Verdict.PASS
    assert (found.evidence.outcomes, found.evidence.tables, found.evidence.facts) == (None, None, None)


def test_the_topology_is_the_one_the_capture_carries(stored: Path) -> None:
    assert examine_stored(stored).result.topology == "nat"


def test_drops_of_a_stored_capture_still_make_errors(tmp_path: Path) -> None:
    path = tmp_path / "lossy.pcapng"
    write_capture(path, replace(build.nat(), drops={"rs1": 2}))
    assert examine_stored(path, MODEL).result.verdict is Verdict.ERROR


@pytest.mark.parametrize("comment", ["", "not a topology", "name: [unfinished"])
def test_a_capture_without_a_usable_topology_asks_for_one(tmp_path: Path, comment: str) -> None:
    path = tmp_path / "nat.pcapng"
    write_capture(path, replace(build.nat(), comment=comment))
    with pytest.raises(BadInput, match="does not say which topology"):
        examine_stored(path)


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.pcapng"
    path.write_text("text")
    with pytest.raises(BadInput, match="not a capture file"):
        examine_stored(path, MODEL)


@pytest.mark.parametrize("name", shipped_topologies())
def test_the_rendered_text_makes_the_same_topology_again(name: str) -> None:
    model = load_topology(name, params={"real_servers": 3})
    capture = replace(build.nat(), comment=model.rendered)
    again = topology_of(capture)
    assert again is not None
    assert replace(again, source="", params={}) == replace(model, source="", params={})


def test_a_removal_survives_in_the_rendered_text() -> None:
    model = load_topology("dr", without=["arp_ignore@rs1"])
    again = load_text(model.rendered, "stored")
    assert not again.node("rs1").has(Setting.ARP_IGNORE)
    assert again.node("rs2").has(Setting.ARP_IGNORE)


def test_addresses_are_named_after_nodes_and_the_vip() -> None:
    labels = address_labels(MODEL)
    assert labels["198.51.100.10"] == "client"
    assert labels["192.0.2.11"] == "rs1"
    assert labels["198.51.100.100"] == "VIP"
    assert name_records(MODEL)[ip_address("192.0.2.1")] == "director"


def test_a_recording_that_has_not_ended_has_no_capture() -> None:
    with pytest.raises(RuntimeError, match="has not ended"):
        Recording().finished()


@pytest.mark.parametrize(
    ("port", "times", "first_port", "said"),
    [
        (0, 1, 0, "client: no such port: expected 1 to 65535, found 0"),
        (65536, 1, 0, "client: no such port: expected 1 to 65535, found 65536"),
        (
            80,
            2,
            65535,
            "client: no such source port: expected at most 65535 for the last of 2, found 65535 for the fir",
        ),
        (80, 1, -1, "client: no such source port: expected at most 65535 for the last of 1, found -1 for the first"),
    ],
)
def test_a_port_that_is_none_is_refused_before_anything_is_sent(
    port: int, times: int, first_port: int, said: str
) -> None:
    client = LabNode(cast("Sandbox", None), MODEL.node("client"))
    with pytest.raises(BadInput, match=said):
        client.call("203.0.113.100", port, times=times, first_port=first_port)
