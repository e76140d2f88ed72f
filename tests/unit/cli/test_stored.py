"""`lvslab verify --from` and `lvslab walk --from`: stored captures, judged and shown without a kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lvslab.capture.pcapng import write_capture
from lvslab.cli.main import main
from tests.unit.verify.scenes import DR
from tests.unit.walk import build

COMMAND = Path(sys.executable).with_name("lvslab")


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "dr.yaml"
    path.write_text(DR.replace("SERVERS", "1"))
    return path


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "dr.pcapng"
    write_capture(path, build.dr(2))
    return path


def run(words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run the command in this process; return its status and what it wrote."""
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    written = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, written.out, written.err


def test_json_to_standard_output_is_all_there_is(
    topology: Path, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(["verify", "--from", stored, topology, "--json", "-"], capsys)
    document = json.loads(out)
    assert (status, err) == (0, "")
    (result,) = document["results"]
    assert (result["kernel"], result["backend"], result["verdict"]) == ("stored", "capture", "pass")
    assert {item["verdict"] for item in result["expectations"]} == {"pass", "skip"}


def test_junit_to_standard_output_is_all_there_is(
    topology: Path, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(["verify", "--from", stored, topology, "--junit", "-"], capsys)
    assert out.startswith("<?xml")


def test_a_failure_leaves_with_status_1(topology: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = build.Scene()
    build.connection(scene, build.dr_request, lambda _scene, _packet: None, build.DR_VIP)
    path = tmp_path / "silent.pcapng"
    write_capture(path, scene.capture())
    status, out, _ = run(["verify", "--from", path, topology], capsys)
    assert status == 1
    assert "FAIL dr: direct-reply" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_a_capture_that_carries_no_topology_asks_for_one(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(["verify", "--from", stored], capsys)
    assert status == 2
    assert "the capture does not say which topology it is of" in err
    assert err.count("\n") == 1


def test_a_walk_of_a_stored_capture(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(["walk", "--from", stored, "--connection", "2"], capsys)
    assert status == 0
    assert "client" in out
    status, _, err = run(["walk", "--from", stored, "--connection", "9"], capsys)
    assert (status, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_no_colour_in_a_pipe(
    topology: Path,
    stored: Path,
    variable: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    assert "\x1b" not in run(["verify", "-v", "--from", stored, topology], capsys)[1]


@pytest.mark.parametrize(
    "words", [["plan", "dr"], ["plan", "dr", "--shell"], ["schema"], ["topologies"], ["--help"], ["verify"]]
)
def test_a_reader_that_has_gone_is_no_fault(words: list[str], topology: Path, stored: Path) -> None:
    if words == ["verify"]:
        words = ["verify", "-v", "--from", str(stored), str(topology)]
    command = subprocess.Popen([COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert command.stdout is not None
    command.stdout.close()
    assert command.stderr is not None
    said = command.stderr.read()
    command.stderr.close()
    assert (command.wait(), said) == (141, b"")
