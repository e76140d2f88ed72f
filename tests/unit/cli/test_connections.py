"""lvslab connections: what it refuses, in one clear line."""

from __future__ import annotations

import pytest

from lvslab.cli.connections import writer
from lvslab.cli.main import main
from lvslab.errors import BadInput

USAGE: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "Missing argument 'NAME|FILE', or option '--lab'"),
    "two-things": (["dr", "--lab", "x"], "--lab: it is looked at as it is"),
    "made-and-looked-at": (
        ["--lab", "x", "--end", "reset"],
        "--lab: it is looked at as it is: expected it without --end",
    ),
    "no-lab-to-watch": (["dr", "--watch"], "--watch: there is no lab to watch"),
    "interval-of-nothing": (["dr", "--interval", "1"], "--interval"),
    "interval-of-one-look": (["--lab", "x", "--interval", "1"], "--interval"),
    "no-service": (["rr-dns"], "rr-dns: no virtual service to connect to"),
    "no-such-service": (["dr", "--service", "2"], "--service: no such service: expected 1 to 1, found 2"),
    "more-than-one-connection": (["ftp"], "ftp: FTP is more than one connection"),
    "two-reports-in-one-file": (["dr", "--pcap", "x", "--json", "x"], "two reports in one file"),
}


@pytest.mark.parametrize("case", USAGE)
def test_one_clear_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, text = USAGE[case]
    with pytest.raises(SystemExit) as left:
        main(["connections", *words])
    captured = capsys.readouterr()
    assert left.value.code == 2
    assert text in captured.err
    assert len(captured.err.splitlines()) == 1


def test_a_full_disk_is_named_by_its_file() -> None:
    with pytest.raises(BadInput, match="/dev/full: cannot write here"), writer("/dev/full") as write:
        write("a line")
