"""The shape is that of Jenkins' junit-10.xsd: which attributes and children each element may have."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from lvslab.report.junit import to_junit
from lvslab.report.printable import printable
from lvslab.verify.result import TopologyResult
from tests.unit.report.samples import ALL, DR, EMPTY, EVERY_SHAPE, HOSTILE, HOSTILE_RESULT, NAT, TUN

REQUIRED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}, "property": {"name", "value"}}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
    "testcase": {"name", "classname", "time", "status", "assertions"},
    "properties": set(),
    "property": {"name", "value"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
    "properties": {"property"},
}


def parsed(*results: TopologyResult) -> ET.Element:
    return ET.fromstring(to_junit(results))


@pytest.mark.parametrize("results", [(), *((result,) for result in EVERY_SHAPE), EVERY_SHAPE])
def test_the_shape_is_legal(results: tuple[TopologyResult, ...]) -> None:
    root = parsed(*results)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert REQUIRED.get(element.tag, set()) <= element.attrib.keys() <= ALLOWED[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())


@pytest.mark.parametrize("result", EVERY_SHAPE, ids=lambda result: printable(result.topology))
def test_the_counts_are_those_of_the_cases(result: TopologyResult) -> None:
    suite = parsed(result)[0]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase")) == len(result.expectations)
    for attribute, tag in counts.items():
        assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))


def test_the_whole_counts_what_its_suites_count() -> None:
    root = parsed(*ALL)
    for attribute in ("tests", "failures", "errors"):
        assert int(root.attrib[attribute]) == sum(int(suite.attrib[attribute]) for suite in root) > 0
    seconds = sum(sum(result.seconds.values()) for result in ALL)
    assert root.attrib["time"] == f"{seconds:.3f}"


def test_verdicts_stay_distinct() -> None:
    outcomes = [child.tag for child in parsed(*ALL).iterfind("testsuite/testcase/*")]
    assert outcomes == ["system-out", "system-out", "system-out", "failure", "skipped", "error", "skipped"]


def test_a_failure_carries_where_and_frames() -> None:
    failure = parsed(DR).find("testsuite/testcase[@name='arp-owner']/failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("rs1 answered who-has")
    assert failure.text is not None
    assert failure.text.splitlines()[0] == "where: rs1:eth0"
    assert failure.text.splitlines()[-1] == f"frames: {', '.join(str(n) for n in range(3, 23))}"


def test_a_skip_gives_its_reason() -> None:
    skipped = parsed(DR).find("testsuite/testcase/skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "this topology has one director"


def test_the_suite_says_where_it_ran_and_how_long() -> None:
    suite = parsed(NAT)[0]
    properties = {item.attrib["name"]: item.attrib["value"] for item in suite.iterfind("properties/property")}
    assert suite.attrib["time"] == "1.660"
    assert properties == {
        "kernel": "uml",
        "kernel_release": "6.1.0-31",
        "virtual_time": "false",
        "backend": "netns",
        "frames": "412",
        "param.real_servers": "2",
        "param.scheduler": "rr",
        "seconds.boot": "1.100",
        "seconds.build": "0.200",
        "seconds.traffic": "0.300",
        "seconds.judge": "0.060",
    }


def test_illegal_characters_survive_as_escapes() -> None:
    case = parsed(HOSTILE_RESULT).find("testsuite/testcase")
    assert case is not None
    assert case.attrib["name"] == printable(HOSTILE)
    assert "\\x1b[2J\\x00" in case[0].attrib["message"]


def test_wide_text_is_utf8_and_an_empty_suite_is_legal() -> None:
    assert "捕获不丢失任何帧".encode() in to_junit([TUN])
    assert parsed(EMPTY)[0].attrib["tests"] == "0"


def test_what_failed_names_its_files_and_nothing_else_does() -> None:
    files = [[f"{number}.pcapng", "all.html"] for number, _ in enumerate(ALL)]
    root = ET.fromstring(to_junit(ALL, files))
    named = 0
    for paths, suite in zip(files, root, strict=True):
        for case in suite.iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            lines = [line for line in case.findtext("system-out", "").splitlines() if "ATTACHMENT" in line]
            assert lines == ([f"[[ATTACHMENT|{path}]]" for path in paths] if failed else [])
            named += failed
    assert named
