"""Results as JUnit XML, in the shape that Jenkins' junit-10.xsd and GitLab read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from lvslab.report.evidence import facts
from lvslab.report.printable import printable
from lvslab.verify.result import Result, TopologyResult, Verdict, titles

_OUTCOME_TAG = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}


def to_junit(results: Sequence[TopologyResult], attachments: Sequence[Sequence[str]] = ()) -> bytes:
    """Return one testsuite per topology and kernel and one testcase per expectation, as UTF-8.

    `attachments` are paths of files about each result: what failed names them, in the form that GitLab and the plugin
    junit-attachments of Jenkins look for.
    """
    attached = attachments or [()] * len(results)
    verdicts = [expectation.verdict for result in results for expectation in result.expectations]
    root = ET.Element(
        "testsuites",
        name="lvslab verify",
        tests=str(len(verdicts)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors=str(verdicts.count(Verdict.ERROR)),
        time=_seconds(*results),
    )
    parts = zip(results, titles(results), attached, strict=True)
    root.extend(_suite(result, title, paths) for result, title, paths in parts)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(result: TopologyResult, title: str, paths: Sequence[str]) -> ET.Element:
    verdicts = [expectation.verdict for expectation in result.expectations]
    suite = ET.Element(
        "testsuite",
        name=printable(title),
        tests=str(len(verdicts)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors=str(verdicts.count(Verdict.ERROR)),
        skipped=str(verdicts.count(Verdict.SKIP)),
        time=_seconds(result),
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(result):
        ET.SubElement(properties, "property", name=printable(name), value=printable(value))
    suite.extend(_case(title, expectation, paths) for expectation in result.expectations)
    return suite


def _seconds(*results: TopologyResult) -> str:
    return f"{sum(sum(result.seconds.values()) for result in results):.3f}"


def _properties(result: TopologyResult) -> list[tuple[str, str]]:
    return [
        ("kernel", result.kernel),
        ("kernel_release", result.kernel_release),
        ("virtual_time", str(result.virtual_time).lower()),
        ("backend", result.backend),
        ("frames", str(result.frames)),
        *((f"param.{name}", str(value)) for name, value in result.params.items()),
        *((f"seconds.{phase}", f"{seconds:.3f}") for phase, seconds in result.seconds.items()),
    ]


def _case(title: str, result: Result, paths: Sequence[str]) -> ET.Element:
    case = ET.Element("testcase", classname=printable(title), name=printable(result.name))
    text = "\n".join(f"{label}: {value}" for label, value in facts(result))
    tag = _OUTCOME_TAG.get(result.verdict)
    if tag is None:
        ET.SubElement(case, "system-out").text = text
    else:
        message = printable(result.cause if result.verdict is Verdict.SKIP else result.seen)
        ET.SubElement(case, tag, type=result.verdict.value, message=message).text = text
    if paths and result.verdict in (Verdict.FAIL, Verdict.ERROR):
        lines = (f"[[ATTACHMENT|{printable(path)}]]\n" for path in paths)
        ET.SubElement(case, "system-out").text = "".join(lines)
    return case
