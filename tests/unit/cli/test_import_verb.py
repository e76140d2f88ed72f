"""`lvslab lint` and `lvslab import` as their user has them: what is printed where, and with which status."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.cli.main import main
from lvslab.topology import load_topology

SOUND = "-A -t 192.0.2.100:80 -s wrr\n-a -t 192.0.2.100:80 -r 192.0.2.11:80 -g -w 1\n"
FAULTY = SOUND.replace("11:80 -g", "11:81 -g")
DOUBTFUL = SOUND.replace(":80 ", ":21 ")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (
        ("sound", SOUND),
        ("faulty", FAULTY),
        ("doubtful", DOUBTFUL),
        ("other", "hello\n"),
        ("empty", ""),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lint_says_what_it_took_a_file_for(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "lint", "sound", "dr") == (0, "sound: ipvsadm-save text\n2 checked, no faults\n", "")


def test_warnings_alone_are_no_failure(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "lint", "doubtful")
    assert (status, out) == (0, "doubtful: ipvsadm-save text\n1 checked, no faults, 1 to look at\n")
    assert err.startswith("lvslab: doubtful:1: warning: FTP's data connections")


def test_a_fault_of_one_file_is_status_2(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "lint", "sound", "faulty", "other", "nowhere/to/be/found")
    assert status == 2
    assert "checked" not in out
    assert [line.split(": ")[1] for line in err.splitlines()] == ["faulty:2", "other:1", "nowhere/to/be/found"]


def test_import_prints_a_topology_and_says_what_it_assumed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "import", "sound")
    (files / "made.yaml").write_text(out)
    assert (status, load_topology(files / "made.yaml").name) == (0, "sound")
    assert "lvslab: sound: assumed one client, behind a router" in err


def test_import_writes_a_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "import", "doubtful", "-o", "made.yaml")[:2] == (0, "")
    assert load_topology("./made.yaml").services[0].port == 21


REFUSED = {
    "a fault": (["faulty"], "faulty:2: method dr cannot map ports"),
    "another format": (["other"], "other: nothing that can be imported: expected what ipvsadm-save -n"),
    "an empty file": (["empty"], "empty: nothing that can be imported"),
    "no such file": (["none"], "none: cannot read the director's configuration: No such file"),
    "a folder": (["."], ".: cannot read the director's configuration: expected a regular file"),
    "something there already": (["sound", "-o", "faulty"], "faulty: there is something already"),
    "nowhere to write": (["sound", "-o", "/none/x.yaml"], "/none/x.yaml: cannot write here"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_imported_is_refused(case: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv, words = REFUSED[case]
    status, out, err = run(capsys, "import", *argv)
    assert (status, out) == (2, "")
    assert err.startswith(f"lvslab: {words}")
    assert len(err.splitlines()) == 1
