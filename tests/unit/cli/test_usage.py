"""What people type wrongly: one clear line, exit status 2, never a traceback."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lvslab.cli.main import Terminated, main
from lvslab.errors import KernelFault

USAGE: dict[str, tuple[Sequence[str], str]] = {
    "unknown verb": (["frobnicate"], "No such command 'frobnicate'; see lvslab --help"),
    "no topology": (["plan"], "Missing argument 'NAME|FILE'; see lvslab plan --help"),
    "unknown option": (["verify", "--fron", "x"], "No such option '--fron'"),
    "too little memory": (["verify", "--memory", "95"], "95 is not in the range x>=96"),
    "no value": (["verify", "dr", "--set", "foo"], "--set foo: not a parameter: expected KEY=VALUE, found foo"),
    "no key": (["plan", "dr", "--set", "=2"], "--set =2: not a parameter"),
    "unknown topology": (["plan", "nta"], "unknown topology 'nta': expected one of "),
    "near miss": (["plan", "nta"], "did you mean 'nat'?"),
    "unknown parameter": (["plan", "dr", "--set", "real_server=2"], "did you mean 'real_servers'?"),
    "unknown setting": (["plan", "dr", "--without", "arp_ignor"], "did you mean 'arp_ignore'?"),
    "setting nobody has": (["plan", "nat", "--without", "arp_ignore"], "setting that no such node has"),
    "unknown kernel": (["verify", "dr", "--kernel", "xen"], "expected native, uml or uml:RELEASE, found xen"),
    "nothing to walk": (["walk"], "nothing to walk"),
    "two things to walk": (["walk", "dr", "--from", "x.pcapng"], "found a topology and --from"),
    "a topology in a lab": (["walk", "dr", "--lab"], "found a topology and --lab"),
    "--kernel with a lab": (
        ["walk", "--lab", "dr", "--kernel", "uml"],
        "it is walked as it is: expected it without --k",
    ),
    "topologies and a lab": (["verify", "dr", "--lab"], "no topology, found dr; lvslab verify --lab dr"),
    "--set and a lab": (["verify", "--lab", "dr", "--set", "a=b"], "is judged as it is: expected it without --set"),
    "--without and a lab": (["verify", "--lab", "dr", "--without", "vip"], "expected it without --without"),
    "--memory and a lab": (["verify", "--lab", "--memory", "512"], "expected it without --memory"),
    "several and a lab": (
        ["verify", "--kernel", "uml", "--lab", "--set", "a=b"],
        "--lab: a lab that is up is judged as it is: expected it without --kernel, --set",
    ),
    "a lab and a capture": (["verify", "--lab", "--from", "x"], "a stored capture is judged as it is"),
    "a rate without unit": (["bench", "headline", "--rate", "4"], "--rate: not a rate: expected for example 100mbit"),
    "no rate": (["bench", "headline", "--rate", "unlimited"], "--rate: nothing to compare: expected a rate"),
    "one server": (["bench", "headline", "--servers", "1"], "1 is not in the range 2<=x<=32"),
    "a size of many digits": (["bench", "build", "--servers", "9" * 5000], "9…: expected numbers from 1 to 256"),
    "a size of other digits": (["bench", "build", "--servers", "１"], "'１': expected numbers from 1 to 256"),
    "a weight of many digits": (["schedule", "wrr", "--weights", "9" * 5000], "--weights: not a weight: expected"),
    "a drawing nowhere": (["bench", "skew", "--svg", "/none/x.svg"], "/none/x.svg: cannot write here"),
    "table and drawing": (["bench", "skew", "--json", "-", "--svg", "-"], "standard output takes one report"),
    "unknown benchmark": (["bench", "everything"], "No such command 'everything'; see lvslab bench --help"),
    "no connection 0": (["walk", "dr", "--connection", "0"], "0 is not in the range x>=1"),
    "no such capture": (["verify", "--from", "/none.pcapng", "dr"], "/none.pcapng: cannot read the capture"),
    "a folder": (
        ["verify", "--from", "/", "dr"],
        "/: cannot read the capture: expected a regular file, found a folder",
    ),
    "no capture file": (["verify", "--from", __file__, "dr"], "not a capture file: expected pcapng"),
    "two topologies": (["verify", "--from", "x", "dr", "nat"], "a stored capture is judged as it is"),
    "--set with --from": (["verify", "--from", "x", "--set", "a=b"], "a stored capture is judged as it is"),
    "--without with --from": (["verify", "--from", "x", "--without", "vip"], "a stored capture is judged as it is"),
    "--kernel with --from": (["verify", "--from", "x", "--kernel", "uml"], "a stored capture is judged as it is"),
    "nowhere to write": (["verify", "dr", "--json", "/none/x.json"], "/none/x.json: cannot write here"),
    "two reports at once": (["verify", "dr", "--json", "-", "--junit", "-"], "standard output takes one report"),
    "one file for two": (
        ["verify", "dr", "--json", "/tmp/a", "--junit", "/tmp/../tmp/a"],
        "--json --junit: two reports",
    ),
    "a report for a capture": (["walk", "dr", "--json", "/tmp/a", "--pcap", "/tmp/a"], "two reports in one file"),
    "no servers": (
        ["verify", "dr", "--set", "real_servers=0"],
        "--set real_servers=0: parameter 'real_servers' out of range: expected 1 to 256, found 0",
    ),
    "unknown schema": (["schema", "packet"], "'packet' is not one of 'topology', 'editor', 'verify'"),
    "nothing to lint": (["lint"], "Missing argument 'FILE...'"),
    "no such file": (["lint", "/none.yaml"], "/none.yaml: cannot read the topology file"),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_command_line_is_answered_in_one_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = USAGE[case]
    with pytest.raises(SystemExit) as left:
        main(words)
    written = capsys.readouterr()
    assert left.value.code == 2
    assert written.out == ""
    assert written.err.startswith("lvslab: ")
    assert written.err.count("\n") == 1
    assert message in written.err


def test_a_file_with_several_faults_gets_a_line_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("name: bad\nnetworks: {net: 192.0.2.0/24}\nnodes: {a: {role: king, on: {net: 1}}}\nnode: 1\n")
    with pytest.raises(SystemExit) as left:
        main(["lint", str(path)])
    lines = capsys.readouterr().err.splitlines()
    assert left.value.code == 2
    assert len(lines) == 2
    assert all(line.startswith(f"lvslab: {path}:") for line in lines)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KernelFault("the kernel said no", where="rs1"), 3, "lvslab: rs1: the kernel said no"),
        (KeyboardInterrupt(), 130, "lvslab: interrupted"),
        (Terminated(), 143, "lvslab: terminated"),
        (RuntimeError("oh"), 3, "lvslab: a fault of lvslab's own: RuntimeError: oh; set LVSLAB_DEBUG=1"),
    ],
)
def test_whatever_goes_wrong_is_one_line(
    error: BaseException,
    status: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_words: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("lvslab.topology.load_topology", fail)
    monkeypatch.delenv("LVSLAB_DEBUG", raising=False)
    with pytest.raises(SystemExit) as left:
        main(["plan", "dr"])
    written = capsys.readouterr().err
    assert left.value.code == status
    assert written.strip().startswith(words)
    assert "Traceback" not in written


def test_without_words_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([])
    written = capsys.readouterr()
    assert left.value.code == 2
    assert "Commands:" in written.out + written.err
