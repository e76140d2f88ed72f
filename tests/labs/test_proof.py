"""The proof of a lab must itself be able to fail: each way a lab can be worthless is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.labs.loading import load_lab
from lvslab.labs.machine import open_ready_kernel
from lvslab.labs.scaffold import new_lab
from lvslab.labs.trial import Trial, try_lab
from lvslab.verify.result import Verdict

pytestmark = pytest.mark.kernel
Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def kernel(kernel_kind: str) -> Iterator[RunningKernel]:
    with open_ready_kernel(kernel_kind, memory_mib=DEFAULT_MEMORY_MIB) as running:
        yield running


def prove(kernel: RunningKernel, folder: Path, change: Change = lambda _: None) -> dict[str, Trial]:
    new_lab(folder)
    change(folder)
    return {trial.name: trial for trial in try_lab(kernel, load_lab(folder), "", lambda _: nullcontext())}


def replaced(file: str, written: str, instead: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert written in text
        (folder / file).write_text(text.replace(written, instead))

    return change


def both(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


def removed(file: str) -> Change:
    return lambda folder: (folder / file).unlink()


def test_a_new_lab_is_proven(kernel: RunningKernel, tmp_path: Path) -> None:
    trials = prove(kernel, tmp_path / "13-mine")
    assert {name: trial.verdict for name, trial in trials.items()} == dict.fromkeys(
        [
            "untouched",
            "solution",
            "graded",
            "wrong/directors-address",
            "wrong/no-forwarding",
            "wrong/one-server",
            "every check can fail",
        ],
        Verdict.PASS,
    )


MAKE_BRIDGE = "rs1# ip link add br9 type bridge"
BRIDGE = "command: {node: rs1, run: ip -o link show br9, prints: state, expect: {en: a bridge, zh: 网桥}}"

WORTHLESS: dict[str, tuple[Change, str, str]] = {
    "nothing is to be done": (removed("setup.console"), "untouched", "passes without anything done: service"),
    "the solution solves nothing": (
        replaced("solution/service.console", "-r {{ rs2.ip }} -m", "-r {{ rs2.ip }} -m -w 0"),
        "solution",
        "service: table",
    ),
    "the solution cannot be typed": (
        replaced("solution/service.console", "ipvsadm -A -t", "ipvsadm -A -x"),
        "solution",
        "service.console:1",
    ),
    "the prediction is wrong": (
        replaced("solution/calls-of-rs1.console", "predict 4", "predict 5"),
        "solution",
        "predicted 5, observed 4",
    ),
    "the answer is wrong": (
        replaced("solution/source-at-server.console", "{{ client.ip }}", "{{ vip }}"),
        "solution",
        "source-at-server",
    ),
    "a submission does not keep what is judged": (
        both(
            replaced("lab.yaml", "      - id: replies\n", f"      - {BRIDGE}\n      - id: replies\n"),
            replaced("solution/service.console", "director# ipvsadm -A", f"{MAKE_BRIDGE}\ndirector# ipvsadm -A"),
        ),
        "graded",
        "service: passes for the student, but not when graded: command",
    ),
    "the mistake is none": (
        replaced("wrong/no-forwarding.console", "ip_forward=0", "ip_forward=1"),
        "wrong/no-forwarding",
        "passes all the same",
    ),
    "the mistake trips another check": (
        replaced("wrong/no-forwarding.console", "-r {{ rs1.ip }} -m", "-r {{ rs1.ip }} -m -w 3"),
        "wrong/no-forwarding",
        "trips table instead of replies",
    ),
    "a check that nothing trips": (
        replaced(
            "lab.yaml",
            "      - id: replies\n",
            "      - address: {node: client, address: '{{ client.ip }}'}\n      - id: replies\n",
        ),
        "every check can fail",
        "nothing trips address",
    ),
    "a check that cannot be judged": (
        replaced("lab.yaml", "expect: [nat-request, nat-reply]", "expect: [nat-requests]"),
        "untouched",
        "cannot be judged",
    ),
}


@pytest.mark.parametrize("kind", WORTHLESS)
def test_a_worthless_lab_is_found(kernel: RunningKernel, tmp_path: Path, kind: str) -> None:
    change, name, said = WORTHLESS[kind]
    trials = prove(kernel, tmp_path / "13-mine", change)
    assert trials[name].verdict is Verdict.FAIL
    assert said in trials[name].said
