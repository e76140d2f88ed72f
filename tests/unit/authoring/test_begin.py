"""`lvslab new topology`: what is chosen lints clean; what is missing is asked at a terminal, and named elsewhere."""

from __future__ import annotations

import shlex
import sys
from itertools import product
from pathlib import Path

import pexpect
import pytest

from lvslab.authoring.begin import topology_text
from lvslab.authoring.choices import FAMILIES, SERVERS, Choices, Forwarding
from lvslab.cli.main import main
from lvslab.topology import load_text, load_topology
from lvslab.topology.limits import SCHEDULERS
from lvslab.topology.model import Method, Protocol

COMMAND = Path(sys.executable).with_name("lvslab")


@pytest.mark.parametrize(("forwarding", "family", "protocol"), list(product(Forwarding, FAMILIES, Protocol)))
def test_every_choice_is_a_topology(forwarding: Forwarding, family: str, protocol: Protocol) -> None:
    for scheduler, servers in (("rr", SERVERS.low), *((each, 2) for each in SCHEDULERS), ("wrr", SERVERS.high)):
        text = topology_text(Choices("mine", forwarding, family, protocol, scheduler, servers))
        topology = load_text(text, "mine.yaml")
        (service,) = topology.services
        assert topology.name == "mine"
        assert (service.method, service.source_nat) == (
            (Method.NAT, True) if forwarding is Forwarding.FULLNAT else (Method(forwarding), False)
        )
        assert (service.vip.version, service.protocol, service.scheduler) == (int(family), protocol, scheduler)
        assert len(service.destinations) == servers


def test_the_next_command_can_be_typed_as_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my files"
    folder.mkdir()
    with pytest.raises(SystemExit):
        main(["new", "topology", str(folder / "mine.yaml"), "--method", "dr"])
    said = capsys.readouterr().out.splitlines()[1]
    assert f"lvslab verify {shlex.quote(str(folder / 'mine.yaml'))} " in said


def test_flags_make_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "first"
    with pytest.raises(SystemExit) as left:
        main(["new", "topology", str(path), "--method", "tun", "--family", "6", "--servers", "3"])
    assert left.value.code == 0
    written = path.with_suffix(".yaml")
    assert capsys.readouterr().out.splitlines()[0] == str(written)
    topology = load_topology(written)
    assert (topology.name, topology.services[0].method, len(topology.services[0].destinations)) == ("first", "tun", 3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no terminal to ask at: expected FILE and --method nat|dr|tun|fullnat"),
        (["x.yaml"], "there is no terminal to ask at: expected --method nat|dr|tun|fullnat"),
        (["--method", "dr"], "there is no terminal to ask at: expected FILE"),
        (["x.yaml", "--method", "lan"], "Invalid value for '--method'"),
        (["x.yaml", "--method", "dr", "--servers", "257"], "257 is not in the range 1<=x<=256"),
        (["x y.yaml", "--method", "dr"], "no name for a topology: expected letters a-z, digits and inner hyphens"),
        ([".", "--method", "dr"], ".: no name for a topology"),
        (["", "--method", "dr"], "no name for a topology"),
        (["/", "--method", "dr"], "/: no name for a topology"),
        (["there.yaml", "--method", "dr"], "there.yaml: there is something already; choose another name"),
        (["none/x.yaml", "--method", "dr"], "none/x.yaml: cannot be written: No such file or directory"),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.yaml").write_text("mine")
    with pytest.raises(SystemExit) as left:
        main(["new", "topology", *words])
    assert left.value.code == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there.yaml"]
    assert Path("there.yaml").read_text() == "mine"


def test_a_terminal_is_asked(tmp_path: Path) -> None:
    """Wrong answers are asked again, Enter takes what is offered, and flags are not asked for."""
    program = pexpect.spawn(str(COMMAND), ["new", "topology", "--protocol", "udp"], cwd=tmp_path, encoding="utf-8")
    for question, answer in (
        ("File", "asked.yaml"),
        ("Forwarding method", "lan"),
        ("Forwarding method", "nat"),
        ("IP version", "6"),
        ("Scheduler", ""),
        ("Real servers", "5"),
    ):
        program.expect(question)
        program.sendline(answer)
    program.expect(pexpect.EOF)
    assert program.wait() == 0
    assert "Protocol" not in str(program.before)
    (service,) = load_topology(tmp_path / "asked.yaml").services
    assert (service.method, service.vip.version, service.protocol, service.scheduler) == ("nat", 6, "udp", "rr")
    assert len(service.destinations) == 5
