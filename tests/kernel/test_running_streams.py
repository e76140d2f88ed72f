"""Programs in a node have our streams: everything arrives, nobody stalls anybody else, statuses are as in a shell."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.kernel.running_support import World, this_user
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S

pytestmark = pytest.mark.kernel

LAB = "streams"
EXEC = (str(COMMAND), "exec", "--lab", LAB)
OUTPUT_BYTES = 100_000_000
INPUT_BYTES = 20_000_000
# A stream cipher over zeros: bytes of all values, the same for the same password, faster than /dev/urandom.
NOISE = f"openssl enc -aes-128-ctr -pass pass:x -nosalt -pbkdf2 </dev/zero 2>/dev/null | head -c {OUTPUT_BYTES}"


@pytest.fixture(scope="module", autouse=True)
def world(kernel_kind: str) -> Iterator[World]:
    found = this_user(kernel_kind)
    up = found.run("up", "dr", "--name", LAB)
    assert up.returncode == 0, up.stderr
    yield found
    assert found.run("down", LAB).returncode == 0


def run_in(
    node: str, script: str, *, data: bytes | None = None, stdin: BinaryIO | None = None
) -> subprocess.CompletedProcess[bytes]:
    words = [*EXEC, node, "--", "bash", "-c", script]
    if data is not None:
        return subprocess.run(words, capture_output=True, check=False, timeout=COMMAND_TIMEOUT_S, input=data)
    return subprocess.run(words, capture_output=True, check=False, timeout=COMMAND_TIMEOUT_S, stdin=stdin)


def test_a_hundred_megabytes_of_output_arrive_as_they_were() -> None:
    here = subprocess.run(["bash", "-c", NOISE], stdout=subprocess.PIPE, check=True).stdout
    there = run_in("rs1", NOISE).stdout
    assert len(there) == OUTPUT_BYTES
    assert hashlib.sha256(there).digest() == hashlib.sha256(here).digest()


@pytest.mark.parametrize("by_way_of", ["file", "pipe"])
def test_a_large_input_arrives_as_it_was(tmp_path: Path, by_way_of: str) -> None:
    data = os.urandom(INPUT_BYTES)
    expected = hashlib.sha256(data).hexdigest()
    if by_way_of == "pipe":
        done = run_in("rs1", "sha256sum", data=data)
    else:
        (tmp_path / "data").write_bytes(data)
        with (tmp_path / "data").open("rb") as file:
            done = run_in("rs1", "sha256sum", stdin=file)
    assert done.stdout.split()[0].decode() == expected


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -TERM $$"), 128 + signal.SIGTERM),
        (("no-such-program",), 127),
        (("/no/such/program",), 127),
        (("/etc/passwd",), 126),
        (("/etc",), 126),
    ],
)
def test_a_programs_status_is_the_commands(world: World, words: tuple[str, ...], status: int) -> None:
    done = world.run("exec", "--lab", LAB, "rs1", "--", *words)
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == (1 if status in (126, 127) else 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_reaches_the_program(number: signal.Signals) -> None:
    script = f"trap 'echo got it; exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.1; done"
    with subprocess.Popen([*EXEC, "rs1", "--", "bash", "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        program.send_signal(number)
        assert (program.stdout.read(), program.wait()) == (b"got it\n", 9)


def test_a_signal_gets_through_while_nobody_reads() -> None:
    with subprocess.Popen([*EXEC, "rs1", "--", "yes"], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.read(1000)
        program.send_signal(signal.SIGINT)
        program.stdout.read()
        assert program.wait() == 128 + signal.SIGINT


@pytest.mark.parametrize(
    ("shell_words", "output", "status", "said"),
    [
        ("cat <&-", b"", 0, b""),
        ("cat </dev/null", b"", 0, b""),
        ("echo gone >&-", b"", 2, b"lvslab: standard output is closed: expected somewhere to print to\n"),
        ("yes | head -n 1; exit ${PIPESTATUS[0]}", b"y\n", 141, b""),
    ],
)
def test_closed_and_broken_streams(shell_words: str, output: bytes, status: int, said: bytes) -> None:
    line = f"{' '.join(EXEC)} rs1 -- {shell_words}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=COMMAND_TIMEOUT_S)
    assert (done.stdout, done.returncode, done.stderr) == (output, status, said)
    assert _count("yes") == 0


def test_what_an_ended_program_left_behind_is_not_waited_for() -> None:
    done = run_in("rs1", "yes & sleep 0.3; echo $! >&2")
    assert done.returncode == 0
    assert run_in("rs1", "echo alive").stdout == b"alive\n"


@pytest.mark.parametrize("script", ["sleep 1000; :", "trap '' HUP TERM; echo ready; while :; do sleep 0.1; done"])
def test_a_program_ends_with_the_command_it_belongs_to(script: str) -> None:
    marker = f"lvslab-marker-{os.getpid()}"
    words = [*EXEC, "rs1", "--", "bash", "-c", f"echo ready; {script}", marker]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        running = _count(marker)
        program.kill()
    assert running == 1
    while _count(marker):
        pass


def _count(marker: str) -> int:
    """Count the processes in the lab whose command line is, or ends in, `marker`; one may be about to end."""
    script = f"sleep 0.05; grep -lsazE '^({marker})$' /proc/[0-9]*/cmdline | grep -cv /$$/"
    return int(run_in("rs2", script).stdout)


def test_a_slow_reader_stalls_nobody_else() -> None:
    with subprocess.Popen([*EXEC, "rs1", "--", "yes"], stdout=subprocess.PIPE) as slow:
        with subprocess.Popen([*EXEC, "rs2", "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as typing:
            assert typing.stdin is not None
            assert typing.stdout is not None
            for number in range(50):
                typing.stdin.write(b"%d\n" % number)
                typing.stdin.flush()
                assert typing.stdout.readline() == b"%d\n" % number
            typing.stdin.close()
        assert slow.poll() is None
        slow.kill()


def test_several_at_once_keep_apart() -> None:
    nodes = ("client", "router", "director", "rs1", "rs2")
    script = "read -r line; for i in $(seq 2000); do echo $(</proc/sys/kernel/hostname) $line $i; done"
    programs = [
        subprocess.Popen([*EXEC, node, "--", "bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for node in nodes
    ]
    for number, program in enumerate(programs):
        assert program.stdin is not None
        program.stdin.write(b"%d\n" % number)
        program.stdin.close()
    for number, (node, program) in enumerate(zip(nodes, programs, strict=True)):
        with program:
            assert program.stdout is not None
            expected = [f"{node} {number} {i}" for i in range(1, 2001)]
            assert program.stdout.read().decode().splitlines() == expected


def test_without_a_terminal_there_is_no_shell(world: World) -> None:
    done = world.run("shell", "--lab", LAB, "rs1")
    assert done.returncode == 2
    assert "a terminal is needed" in done.stderr


def test_more_clients_than_twelve_bits_number(world: World) -> None:
    """A lab outlives any number of commands."""
    from lvslab.kernels.attach import connect, find_lab

    record = find_lab(LAB)
    for _ in range((1 << 12) + 10):
        connect(record).close()
    assert run_in("rs1", "echo alive").stdout == b"alive\n"
