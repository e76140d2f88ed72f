"""The wheel in another project: its tests pass, fail and skip as they should, and failures show what happened."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lvslab.capture.pcapng import read_capture
from tests.plugin.conftest import AnotherProject, Run

pytestmark = pytest.mark.kernel

ENVIRONMENT = {
    "test_a_kernel_that_is_not_here": "skipped",
    "test_the_kernel_fails": "error",
    "test_the_next_gets_a_new_one": "passed",
    "test_a_kernel_that_cannot_be": "error",
    "test_a_backend_that_cannot_be": "error",
    "test_a_topology_that_is_not_there": "error",
    "test_no_marker": "error",
    "test_a_misspelt_marker": "error",
    "test_without_a_cluster": "passed",
}
FAILURES = {
    "test_a_request_that_does_not_pass_the_director": "does not pass director: client → router → rs",
    "test_an_arp_owner": "== 'director'",
    "test_an_arp_question_in_the_name_of_the_vip": "== 'director'",
    "test_a_change": "also changes destination MAC (02:00:00:00:03:00 → 02:00:00:00:0",
    "test_a_schedule": "== ['rs1', 'rs1', 'rs1']",
    "test_two_walks": "was answered by rs",
    "test_expectations": "answered failed at rs2:eth0",
}
"""Tests that fail, and a part of what they say."""


@pytest.fixture(scope="module")
def run(another_project: AnotherProject) -> Run:
    return another_project.run()


def of_file(run: Run, name: str) -> dict[str, str]:
    return {
        case.attrib["name"]: run.outcomes[case.attrib["name"]]
        for case in run.junit.iter("testcase")
        if case.attrib["classname"].endswith(name)
    }


def test_what_holds_passes(run: Run) -> None:
    outcomes = of_file(run, "test_passing")
    assert set(outcomes.values()) == {"passed"}, run.output
    assert len(outcomes) == 11


def test_what_the_documentation_shows_passes(run: Run) -> None:
    outcomes = of_file(run, "test_docs") | of_file(run, "test_readme")
    assert set(outcomes.values()) == {"passed"}, run.output
    assert len(outcomes) == 5


def test_what_does_not_hold_fails_and_says_why(run: Run) -> None:
    assert of_file(run, "test_failing") == dict.fromkeys(FAILURES, "failure")
    for name, words in FAILURES.items():
        failure = run.case(name).find("failure")
        assert failure is not None
        assert words in failure.attrib["message"]


def test_what_is_no_finding_is_an_error_or_a_skip(run: Run) -> None:
    assert of_file(run, "test_environment") == ENVIRONMENT
    assert run.status == pytest.ExitCode.TESTS_FAILED
    assert "uml:0.1: this kernel is not here" in run.output
    assert "did you mean 'without'?" in run.output
    assert "Traceback" not in run.output


def test_a_failure_shows_the_walk_hop_by_hop(run: Run) -> None:
    failure = run.case("test_a_request_that_does_not_pass_the_director").find("failure")
    assert failure is not None
    for text in (failure.text or "", run.output):
        assert re.search(r"Request: TCP SYN, client → router → rs[12]\n", text)
        assert re.search(r"router:eth1 out +\*router → \*rs[12] .* \*64→63\n", text)


def test_a_failed_comparison_of_owners_shows_the_arp_packets(run: Run) -> None:
    assert re.search(r"ARP 198\.18\.0\.10 \(VIP\) is at 02:00:00:00:04:00 \(rs1\), rs1 → router\n", run.output)
    assert re.search(r"ARP who has 198\.18\.0\.1 \(router\), tell 198\.18\.0\.10 \(VIP\)\n", run.output)


def test_captures_of_failed_tests_alone_are_kept(run: Run) -> None:
    tests = {re.sub(r"-[0-9a-f]{6}(-\d)?$", "", path.stem) for path in run.kept("pcapng")}
    failed = {f"checks-test_failing.py-{name}" for name in FAILURES}
    assert tests == failed | {"checks-test_environment.py-test_the_kernel_fails"}
    assert [path.stem for path in run.kept("html")] == [path.stem for path in run.kept("pcapng")]


def test_tshark_reads_them(run: Run) -> None:
    path = next(path for path in run.kept("pcapng") if "test_an_arp_owner-" in path.name)
    command = ["tshark", "-r", str(path), "-Y", "arp.opcode == 2", "-T", "fields", "-e", "arp.src.hw_mac"]
    claimed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert {f"02:00:00:00:0{number}:00" for number in (3, 4, 5)} <= set(claimed)
    assert read_capture(path).comment.endswith('without: ["arp_ignore"]\n')


def test_each_recording_of_a_test_is_kept(run: Run) -> None:
    assert len([path for path in run.kept("pcapng") if "test_two_walks" in path.name]) == 2


@pytest.mark.parametrize("name", FAILURES)
def test_junit_attaches_what_was_kept_and_names_the_kernel(run: Run, name: str) -> None:
    case = run.case(name)
    attached = re.findall(r"^\[\[ATTACHMENT\|(.+)\]\]$", case.findtext("system-out", ""), re.MULTILINE)
    properties = {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
    assert {Path(path).suffix for path in attached} == {".pcapng", ".html"}
    assert all((run.folder / path).is_file() for path in attached)
    assert properties["lvs_pcapng"] in attached
    assert properties["lvs_html"] in attached
    assert re.fullmatch(r"(uml|native) \d\S+, \w+", properties["lvs_kernel"])


def test_two_processes_say_the_same(another_project: AnotherProject, run: Run) -> None:
    """Each has a kernel of its own, and no test here relies on those before it."""
    parallel = another_project.run("-n", "2", "--dist", "load", "checks/test_failing.py")
    assert parallel.outcomes == dict.fromkeys(FAILURES, "failure")
    assert len(parallel.kept("pcapng")) == len(FAILURES) + 1
    assert re.search(r"Request: TCP SYN, client → router → rs[12]\n", parallel.output)


def test_what_is_required_must_run(another_project: AnotherProject) -> None:
    name = "test_a_kernel_that_is_not_here"
    done = another_project.run(f"checks/test_environment.py::{name}", "--lvs-required")
    assert (done.outcomes, done.status) == ({name: "error"}, pytest.ExitCode.TESTS_FAILED)
