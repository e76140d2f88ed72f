"""lvslab walk on stored captures: what it prints, and what it says when there is nothing to print."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scapy.utils import PcapNgWriter, PcapWriter

from lvslab.capture.frame import Capture, Direction
from lvslab.capture.pcapng import write_capture
from lvslab.cli.main import main
from lvslab.cli.options import language_of
from tests.unit.walk import build
from tests.unit.walk.build import Scene, framed, udp

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `lvslab walk` and returns status, output and complaint."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def walk(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(["walk", *arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return walk


def stored(folder: Path, capture: Capture) -> str:
    path = folder / "stored.pcapng"
    write_capture(path, capture, names={})
    return str(path)


def test_a_file_without_a_topology_shows_numbers_for_addresses(run: Run, tmp_path: Path) -> None:
    status, out, err = run("--from", stored(tmp_path, build.dr()))
    assert (status, err) == (0, "")
    assert "198.51.100.10:40000 → 192.0.2.100:80" in out


def test_a_comment_that_is_no_topology_is_as_good_as_none(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("--from", stored(tmp_path, replace(build.dr(), comment="taken on a Monday")))
    assert (status, "director: destination MAC rewritten to rs1" in out) == (0, True)


def test_arp_is_shown_on_demand_and_its_absence_said(run: Run, tmp_path: Path) -> None:
    with_arp = stored(tmp_path, build.dr())
    assert "ARP who has 192.0.2.100" in run("--from", with_arp, "--arp")[1]
    assert "ARP" not in run("--from", with_arp)[1]
    assert "No ARP about 203.0.113.100 was seen." in run("--from", stored(tmp_path, build.tun()), "--arp")[1]


def test_json_alone_goes_to_standard_output(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("--from", stored(tmp_path, build.dr()), "--json", "-")
    assert (status, json.loads(out)["schema"]) == (0, "urn:lvslab:schema:walk:1")


def _only_arp() -> Capture:
    scene = Scene()
    build.arp_exchange(scene, "router:eth1", "192.0.2.1", "director:eth0", "192.0.2.100", ())
    return scene.capture()


def _beginning_cut_off() -> Capture:
    scene = Scene()
    question = framed("client:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x"))
    scene.see("rs1:eth0", Direction.IN, question)
    return scene.capture()


@pytest.mark.parametrize("capture", [Capture(()), _only_arp(), _beginning_cut_off()], ids=["empty", "arp", "cut"])
def test_a_capture_without_connections_is_a_clear_message(run: Run, tmp_path: Path, capture: Capture) -> None:
    status, out, err = run("--from", stored(tmp_path, capture))
    assert (status, out) == (2, "")
    assert "the capture shows no TCP, UDP or SCTP connection" in err


def test_a_connection_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    status, _, err = run("--from", stored(tmp_path, build.dr()), "--connection", "2")
    assert (status, "expected 1 to 1, found 2" in err) == (2, True)


@pytest.mark.parametrize(
    ("writer", "complaint"), [(PcapWriter, "classic pcap"), (PcapNgWriter, "does not say which node it belongs to")]
)
def test_a_file_that_names_no_nodes_is_refused_with_the_reason(
    run: Run, tmp_path: Path, writer: type[PcapWriter], complaint: str
) -> None:
    path = tmp_path / "by-another-tool"
    with writer(str(path)) as file:
        file.write(framed("client:eth0", "rs1:eth0", udp(("192.0.2.1", 1), ("192.0.2.2", 2), b"x")))
    status, out, err = run("--from", str(path))
    assert (status, out) == (2, "")
    assert complaint in err


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
    ],
)
def test_the_locale_chooses_the_language(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language


def test_the_option_wins_over_the_locale(run: Run, tmp_path: Path) -> None:
    assert "目的 MAC 改写为 rs1" in run("--from", stored(tmp_path, build.dr()), "--lang", "zh")[1]
