"""lvslab schedule and lvslab predict without a kernel, and the examples of docs/schedulers.md."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from lvslab.cli.main import main
from lvslab.errors import BadInput
from lvslab.ipvs.model import (
    AddressKey,
    Connection,
    Destination,
    DestinationEntry,
    Persistence,
    Service,
    ServiceEntry,
    Stats,
)
from lvslab.ipvs.schedulers import Counting
from lvslab.ipvs.schedulers.forecast import flows, forecast, service_of_table
from lvslab.ipvs.schedulers.service import BY_TEMPLATE, ServiceModel
from lvslab.topology.model import Method, Protocol

DOCUMENT = Path(__file__).parents[3] / "docs" / "schedulers.md"
EXAMPLE = re.compile(r"```\n\$ lvslab (?P<words>.*?)\n(?P<text>.*?)```\n", re.DOTALL)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(words)
    captured = capsys.readouterr()
    assert left.value.code == 0, captured.err
    return captured.out


def steps(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    document = json.loads(run(capsys, *words, "--json", "-"))
    found: list[dict[str, Any]] = document["steps"] if "steps" in document else document["services"][0]["steps"]
    return found


def servers(found: Sequence[dict[str, Any]]) -> str:
    return "".join(step["server"] or "-" for step in found)


def examples() -> list[tuple[str, str]]:
    return [(found["words"], found["text"]) for found in EXAMPLE.finditer(DOCUMENT.read_text())]


@pytest.mark.parametrize(("words", "text"), examples())
def test_the_document_prints_what_the_command_prints(
    words: str, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    printed = run(capsys, *words.split())
    assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()


def test_the_document_shows_both_readings_of_wrr() -> None:
    said = dict(examples())
    assert "AABABCABC" in said["schedule wrr --weights 4,3,2 -n 9 --reading papers"]
    assert "CBAABACBA" in said["schedule wrr --weights 4,3,2 -n 9"]


SEQUENCES = {
    "wrr-papers": (["wrr", "--weights", "4,3,2", "-n", "9", "--reading", "papers"], "AABABCABC"),
    "wrr-kernel": (["wrr", "--weights", "4,3,2", "-n", "12"], "CBAABACBACBA"),
    "all-stay-open": (["wlc", "--weights", "2,1", "-n", "6"], "BAABAA"),
    "each-has-ended": (["sed", "--weights", "2,1", "-n", "4", "--ended"], "AAAA"),
    "refused": (["ovf", "--weights", "1", "-n", "3"], "AA-"),
    # 10.0.0.1 and 10.0.0.2 hash to 39 and 137, 192.0.2.100 to 3; the buckets begin C, B, A, C, …
    "one-client": (["sh", "--weights", "1,1,1", "-n", "3", "--clients", "10.0.0.1"], "CCC"),
    "clients-take-turns": (["sh", "--weights", "1,1,1", "-n", "4", "--clients", "10.0.0.1,10.0.0.2"], "CACA"),
    "one-destination": (["dh", "--weights", "1,1,1", "-n", "3"], "CCC"),
    "destinations": (["dh", "--weights", "1,1,1", "-n", "4", "--destinations", "10.0.0.1,10.0.0.2"], "CACA"),
    "an-ipv6-client": (["mh", "--weights", "1,1", "-n", "2", "--clients", "2001:db8::1"], "BB"),
}


@pytest.mark.parametrize("case", SEQUENCES)
def test_sequences(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, sequence = SEQUENCES[case]
    assert servers(steps(capsys, "schedule", *words)) == sequence


def test_each_step_says_what_was_compared(capsys: pytest.CaptureFixture[str]) -> None:
    second = steps(capsys, "schedule", "wlc", "--weights", "2,0,1", "-n", "2")[1]
    assert (second["number"], second["server"], second["reason"]) == (2, "A", "least cost by weight")
    assert [(item["server"], item["cost"], item["verdict"]) for item in second["candidates"]] == [
        ("C", 257, "not less"),
        ("B", None, "weight 0"),
        ("A", 0, "taken"),
    ]


def test_twos_has_shares_instead_of_a_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "schedule", "twos", "--weights", "1,1", "--json", "-"))
    assert document["probabilities"] == pytest.approx({"A": 1 / 3, "B": 2 / 3})
    assert "B   66.67%  (2/3)" in run(capsys, "schedule", "twos", "--weights", "1,1")


def test_a_topologys_first_connections_are_predicted_from_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    found = steps(capsys, "predict", "dr", "--set", "real_servers=3", "-n", "4")
    assert [step["server"] for step in found] == ["rs3", "rs2", "rs1", "rs3"]
    assert [step["state"]["pointer"] for step in found] == ["head", "rs3", "rs2", "rs1"]
    text = run(capsys, "predict", "dr", "--set", "scheduler=wlc", "-n", "2")
    assert text.splitlines()[:2] == ["TCP 198.18.0.10:80 at director, wlc", "rs2 rs1"]


def test_a_persistent_service_is_predicted_per_client(capsys: pytest.CaptureFixture[str]) -> None:
    """Its four clients call in turn, as in verify."""
    found = steps(capsys, "predict", "persistence", "-n", "6")
    assert [step["server"] for step in found] == ["rs3", "rs2", "rs1", "rs3", "rs3", "rs2"]
    assert [step["state"].get("template") for step in found[4:]] == ["203.0.113.10 rs3", "203.0.113.11 rs2"]
    subnets = steps(capsys, "predict", "persistence", "--set", "prefix=28", "-n", "4")
    assert [step["server"] for step in subnets] == ["rs3", "rs3", "rs2", "rs2"]


def test_a_node_that_serves_at_two_ports_is_two_servers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "ports.yaml"
    file.write_text(
        """
name: ports
networks: {outside: 203.0.113.0/24, inside: 198.18.0.0/24}
nodes:
  client: {role: client, on: {outside: 10}}
  director: {role: director, on: {outside: 2, inside: 1}}
  rs[1-2]: {role: real-server, on: {inside: 11+}}
services:
  - vip: 203.0.113.100
    port: 80
    method: nat
    scheduler: lc
    servers: [{node: rs1, port: 8080}, {node: rs1, port: 8081}, {node: rs2, port: 8080}]
"""
    )
    found = steps(capsys, "predict", str(file), "-n", "4")
    assert [step["server"] for step in found] == ["rs2", "rs1:8081", "rs1:8080", "rs2"]


def entry(scheduler: str, *servers: DestinationEntry) -> ServiceEntry:
    key = AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80)
    return ServiceEntry(Service(key, scheduler), Stats(), servers)


def loaded(number: int, active: int, inactive: int = 0, *, upper: int = 0, lower: int = 0) -> DestinationEntry:
    destination = Destination(ip_address(f"192.0.2.{number}"), 80, Method.DR, 1, upper, lower)
    return DestinationEntry(destination, active, inactive, 0, Stats())


NAMES = {ip_address("192.0.2.1"): "rs1", ip_address("192.0.2.2"): "rs2"}


def next_of(found: ServiceEntry, *, fresh: bool = False) -> str:
    model = service_of_table(found, NAMES, counting=Counting.TOTAL, fresh=fresh)
    (choice,) = forecast(model, flows(1, [], []))
    return choice.server.name if choice.server else "-"


def test_a_table_tells_its_order_and_its_counts() -> None:
    assert next_of(entry("lc", loaded(2, 0), loaded(1, 0))) == "rs2"
    assert next_of(entry("lc", loaded(2, 1), loaded(1, 0, 200))) == "rs1"
    assert next_of(entry("rr", loaded(2, 0), loaded(1, 0)), fresh=True) == "rs2"


def test_a_table_does_not_tell_where_a_cycle_is() -> None:
    for scheduler in ("rr", "wrr", "lblc", "lblcr"):
        with pytest.raises(BadInput, match=f"what {scheduler} remembers"):
            next_of(entry(scheduler, loaded(1, 0)))


def test_overloaded_is_told_by_the_counts_but_between_the_thresholds() -> None:
    assert next_of(entry("lc", loaded(2, 4, upper=4), loaded(1, 9))) == "rs1"
    assert next_of(entry("lc", loaded(2, 2, upper=4), loaded(1, 9))) == "rs2"
    with pytest.raises(BadInput, match=r"whether 192.0.2.2:80 is overloaded cannot be read"):
        next_of(entry("lc", loaded(2, 3, upper=4), loaded(1, 9)))


CLIENT = ip_address("198.51.100.9")


def sticky(scheduler: str, *, without_quiescent: bool = False, weight: int = 1) -> ServiceModel:
    """Return the model of a table that was used and has the client's template, for rs1."""
    servers = loaded(2, 0), loaded(1, 1)
    found = entry(scheduler, *(replace(one, destination=replace(one.destination, weight=weight)) for one in servers))
    service = replace(found.service, persistence=Persistence(300))
    template = Connection("TCP", CLIENT, 0, ip_address("192.0.2.100"), 80, ip_address("192.0.2.1"), 80, "ASSURED", 299)
    return service_of_table(
        replace(found, service=service),
        NAMES,
        counting=Counting.TOTAL,
        fresh=False,
        entries=[template],
        without_quiescent=without_quiescent,
        clients=[CLIENT],
    )


def test_a_template_in_the_table_decides_even_where_a_cycle_cannot_be_read() -> None:
    for scheduler in ("rr", "lc"):
        (choice,) = forecast(sticky(scheduler), flows(1, [CLIENT], []))
        assert choice.server is not None
        assert (choice.server.name, choice.reason) == ("rs1", BY_TEMPLATE)


def test_templates_of_weight_0_count_unless_the_kernel_is_told_to_expire_them() -> None:
    (kept,) = forecast(sticky("lc", weight=0), flows(1, [CLIENT], []))
    (refused,) = forecast(sticky("lc", weight=0, without_quiescent=True), flows(1, [CLIENT], []))
    assert (kept.reason, refused.server) == (BY_TEMPLATE, None)


USAGE: dict[str, tuple[list[str], str]] = {
    "no-such-scheduler": (["schedule", "lcr", "--weights", "1"], "expected one of rr, wrr, lc"),
    "not-in-the-papers": (
        ["schedule", "sed", "--weights", "1", "--reading", "papers"],
        "the papers do not describe this scheduler",
    ),
    "no-number": (["schedule", "rr", "--weights", "1,x"], "--weights: not a weight: expected whole numbers from 0"),
    "negative": (["schedule", "rr", "--weights", "-1"], "--weights: not a weight"),
    "too-heavy": (["schedule", "rr", "--weights", "65536"], "0 to 65535, separated by commas, found '65536'"),
    "no-weight": (["schedule", "rr", "--weights", ""], "--weights: not a weight"),
    "weights-missing": (["schedule", "rr"], "Missing option '--weights'"),
    "too-many": (["schedule", "rr", "--weights", ",".join("1" * 257)], "--weights: too many servers: expected at most"),
    "no-address": (["schedule", "sh", "--weights", "1", "--clients", "1.2.3"], "--clients: not an address"),
    "no-connection": (["schedule", "rr", "--weights", "1", "-n", "0"], "0 is not in the range"),
    "nothing-to-predict": (["predict"], "Missing argument 'NAME|FILE', or option '--lab'"),
    "no-service": (["predict", "rr-dns"], "rr-dns: no virtual service to predict"),
    "by-chance": (["predict", "dr", "--set", "scheduler=twos"], "twos chooses at random"),
    "two-things": (["predict", "dr", "--lab", "x"], "--lab: the lab has its topology"),
}


@pytest.mark.parametrize("case", USAGE)
def test_one_clear_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, text = USAGE[case]
    with pytest.raises(SystemExit) as left:
        main(words)
    captured = capsys.readouterr()
    assert left.value.code == 2
    assert text in captured.err
    assert len(captured.err.splitlines()) == 1
