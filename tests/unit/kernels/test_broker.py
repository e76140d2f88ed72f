"""A broker with a small program for a kernel: what ends a lab, what the user is told, and what is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lvslab.errors import CannotRun, KernelFault
from lvslab.kernels.broker import last_words
from lvslab.kernels.channel import AgentError
from lvslab.kernels.folder import LabFolder, read_journal, remove_leftovers
from lvslab.kernels.start import KernelProgram, RunningKernel, start_kernel
from tests.unit.kernels.conftest import UP_TIMEOUT_S, StartFake

GONE_IN_S = 30.0


def up(kernel: RunningKernel) -> RunningKernel:
    kernel.wait_until_up(UP_TIMEOUT_S)
    return kernel


def eventually(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + GONE_IN_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def kernel_group(kernel: RunningKernel) -> int:
    group = read_journal(kernel.folder.path)["group"]
    assert isinstance(group, int)
    return group


def group_is_empty(group: int) -> bool:
    """Tell whether no living process is in a group; zombies of another parent do not count."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] not in "ZX":
                return False
    return True


def test_requests_are_answered(start_fake: StartFake) -> None:
    kernel = up(start_fake("echo"))
    assert kernel.release == "0.0-fake"
    blobs = (bytes(100_000), b"")
    answer = kernel.channel.request("anything", blobs, value=7)
    assert (answer.fields, answer.blobs) == ({"op": "anything", "value": 7}, blobs)


def test_a_kernel_is_sent_alarms_once_it_is_up_if_it_wants_them(start_fake: StartFake) -> None:
    alarmed, left_alone = up(start_fake("alarms", alarm_s=0.02)), up(start_fake("alarms"))
    assert eventually(lambda: alarmed.channel.request("count").fields["alarms"] > 2)
    assert left_alone.channel.request("count").fields["alarms"] == 0


def test_large_requests_do_not_wait_for_answers_to_be_read(start_fake: StartFake) -> None:
    """Each side's buffers are full of what the other has not read yet."""
    channel = up(start_fake("echo")).channel
    size = 3 << 20
    numbers = [channel.send("echo", [bytes([number]) * size]) for number in range(3)]
    assert [channel.wait(number, "echo").blobs[0][:1] for number in reversed(numbers)] == [b"\2", b"\1", b"\0"]


def test_the_kernel_gets_its_line_and_nothing_else(start_fake: StartFake) -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    try:
        kernel = up(start_fake("echo"))
    finally:
        os.close(reader)
        os.close(writer)
    listing = 1  # /proc/self/fd itself, open while it is read
    assert kernel.hello["descriptors"] == len(("stdin", "stdout", "stderr", "line")) + listing
    assert set(kernel.hello["environment"]) <= {"LVSLAB_LAB", "LC_CTYPE"}
    assert kernel.hello["core"] == "0"


def test_closing_ends_kernel_and_helpers_and_removes_the_folder(start_fake: StartFake) -> None:
    kernel = up(start_fake("helper"))
    group = kernel_group(kernel)
    assert not group_is_empty(group)
    kernel.close()
    assert not kernel.folder.path.exists()
    assert group_is_empty(group)


def test_closing_at_once_ends_a_kernel_that_has_hardly_begun(start_fake: StartFake) -> None:
    for _ in range(10):
        kernel = start_fake("silent")
        kernel.close()
        assert not kernel.folder.path.exists()


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("exit", "the kernel ended (exit status 1): found last words"),
        ("die", "the kernel ended (killed by SIGSEGV)"),
        ("panic", "the kernel ended (exit status 1): found Kernel panic - not syncing: no memory"),
        ("nonsense", "what the agent sent makes no sense (there is no frame of kind 99)"),
        ("malformed", "what the agent sent makes no sense"),
    ],
)
def test_the_user_is_told_what_happened_and_what_to_do(start_fake: StartFake, word: str, told: str) -> None:
    channel = up(start_fake(word)).channel
    for _ in range(2):  # it stays so
        with pytest.raises(KernelFault) as caught:
            channel.request("anything")
        assert str(caught.value).startswith(told)
        assert "run the command again" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_refusal_names_the_operation_and_the_cure(start_fake: StartFake) -> None:
    with pytest.raises(AgentError) as caught:
        up(start_fake("refuse")).channel.request("start_capture")
    assert str(caught.value).startswith("the agent could not start capture: found No space left; make room")


def test_a_kernel_that_does_not_come_up_is_told(start_fake: StartFake) -> None:
    with pytest.raises(KernelFault, match=r"did not come up within 0\.05 s"):
        start_fake("silent").wait_until_up(0.05)


def test_a_kernel_that_cannot_be_executed_is_told(home: Path) -> None:
    kernel = start_kernel("fake", "fake", lambda _folder: KernelProgram(["/no/such/kernel"], {}, 1))
    try:
        with pytest.raises(KernelFault, match=r"exit status 127\): found /no/such/kernel: No such file or directory"):
            kernel.wait_until_up(UP_TIMEOUT_S)
    finally:
        kernel.close()
    assert not kernel.folder.path.exists()


def test_a_killed_broker_is_told_and_closing_cleans_up(start_fake: StartFake) -> None:
    kernel = up(start_fake("helper"))
    group = kernel_group(kernel)
    os.kill(kernel.broker, signal.SIGKILL)
    with pytest.raises(KernelFault, match="the lab's broker is gone"):
        kernel.channel.request("anything")
    kernel.close()
    assert not kernel.folder.path.exists()
    assert eventually(lambda: group_is_empty(group))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_broker_that_is_told_to_stop_says_so(start_fake: StartFake, number: signal.Signals) -> None:
    kernel = up(start_fake("echo"))
    os.kill(kernel.broker, number)
    with pytest.raises(KernelFault, match=rf"the broker was told to stop \({number.name}\)"):
        kernel.channel.wait(99, "anything")
    kernel.close()
    assert not kernel.folder.path.exists()


def test_a_running_lab_is_no_leftover(start_fake: StartFake) -> None:
    kernel = up(start_fake("echo"))
    assert remove_leftovers() == ()
    assert kernel.channel.request("anything").fields["op"] == "anything"


def test_what_cannot_be_started_leaves_no_folder(home: Path) -> None:
    def program(_folder: LabFolder) -> KernelProgram:
        raise CannotRun("no kernel today")

    with pytest.raises(CannotRun, match="no kernel today"):
        start_kernel("fake", "fake", program)
    assert list(home.glob("lvslab-*")) == []


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("\n one\n two \n\n", "two"),
        ("Traceback:\nOSError: no\nKernel panic - not syncing: Attempted to kill init! x\n trace", "OSError: no"),
        (
            "Kernel panic - not syncing: Attempted to kill init! x\n trace",
            "Kernel panic - not syncing: Attempted to kill init! x",
        ),
        (
            "x\nKernel panic - not syncing: System is deadlocked on memory\n y",
            "Kernel panic - not syncing: System is deadlocked on memory",
        ),
        (
            "[ 1.1] Kernel panic - not syncing: Kernel mode signal 7\nCPU: 0",
            "[ 1.1] Kernel panic - not syncing: Kernel mode signal 7"
            " (the file system that holds the guest's memory is full: /dev/shm, or TMPDIR)",
        ),
    ],
)
def test_last_words(log: str, words: str) -> None:
    assert last_words(log) == words
