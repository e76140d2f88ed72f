from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import jsonschema
import pytest

from lvslab.report.json_report import SCHEMA_ID, load_schema, to_document, to_text
from lvslab.verify.result import Result, TopologyResult, Verdict
from tests.unit.report.samples import ALL, DR, EVERY_SHAPE, HOSTILE, HOSTILE_RESULT, NAT, UNDECIDED


def document(*results: TopologyResult) -> Any:
    """What another program gets: written, then parsed again."""
    return json.loads(to_text(to_document(results, "1.2.3")))


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(load_schema())


def test_the_schema_is_itself_valid_and_names_the_documents() -> None:
    jsonschema.Draft202012Validator.check_schema(load_schema())
    assert load_schema()["$id"] == SCHEMA_ID


@pytest.mark.parametrize("results", [(), *((result,) for result in EVERY_SHAPE), EVERY_SHAPE])
def test_every_document_fits_the_schema(results: tuple[TopologyResult, ...]) -> None:
    validator().validate(document(*results))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda doc: doc.pop("verdict"),
        lambda doc: doc.update(schema="urn:other"),
        lambda doc: doc.update(extra=1),
        lambda doc: doc["results"][0].update(verdict="passed"),
        lambda doc: doc["results"][0].pop("kernel_release"),
        lambda doc: doc["results"][0]["seconds"].update(boot="1 s"),
        lambda doc: doc["results"][0]["expectations"][0].update(frames=[0]),
        lambda doc: doc["results"][0]["expectations"][0].pop("next"),
        lambda doc: doc["results"][0]["expectations"][0].update(why="?"),
    ],
)
def test_the_schema_refuses_other_shapes(spoil: Callable[[Any], object]) -> None:
    spoilt = document(NAT)
    spoil(spoilt)
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(spoilt)


def test_a_failure_carries_its_evidence() -> None:
    assert document(DR)["results"][0]["expectations"][1] == {
        "name": "arp-owner",
        "verdict": "fail",
        "where": "rs1:eth0",
        "frames": list(range(3, 23)),
        "expected": "only the director answers ARP for 192.0.2.100",
        "seen": "rs1 answered who-has 192.0.2.100 with its own MAC 02:00:00:00:00:0b",
        "cause": "arp_ignore is 0 on rs1, so it answers for the VIP on its lo",
        "next": "remove `without: [arp_ignore]`, or run: lvslab verify dr",
    }


@pytest.mark.parametrize(
    ("results", "verdict"),
    [((), "skip"), ((UNDECIDED,), "skip"), ((NAT, UNDECIDED), "pass"), ((NAT, DR), "fail"), (ALL, "error")],
)
def test_the_overall_verdict_is_the_worst(results: tuple[TopologyResult, ...], verdict: str) -> None:
    assert document(*results)["verdict"] == verdict


def test_the_version_that_judged_is_named() -> None:
    assert document()["lvslab"] == "1.2.3"


def test_parameters_that_json_lacks_become_text() -> None:
    params: dict[str, object] = {
        "n": 2,
        "share": 0.5,
        "on": True,
        "none": None,
        "endless": math.inf,
        "vip": ip_address("192.0.2.100"),
        "list": (1, ip_address("::1")),
        "map": {1: math.nan},
    }
    assert document(replace(NAT, params=params))["results"][0]["params"] == {
        "n": 2,
        "share": 0.5,
        "on": True,
        "none": None,
        "endless": "inf",
        "vip": "192.0.2.100",
        "list": [1, "::1"],
        "map": {"1": "nan"},
    }


def test_text_survives_unchanged_and_readable() -> None:
    assert document(HOSTILE_RESULT)["results"][0]["expectations"][0]["seen"] == HOSTILE
    wide = TopologyResult("tun", "uml", "6.1", "netns", (Result("a", Verdict.PASS, "捕获", ""),))
    assert "捕获".encode() in to_text(to_document([wide], "1"))
