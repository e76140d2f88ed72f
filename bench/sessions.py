"""Measure `exec` and `shell` in a lab that is up: round trip, keystroke echo, throughput. Prints Markdown."""

from __future__ import annotations

import argparse
import os
import pty
import statistics
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from lvslab.kernels.attach import LabRecord, connect, find_lab
from lvslab.kernels.session import SessionOrder, run_session

COMMAND = str(Path(sys.executable).with_name("lvslab"))
OUTPUT_BYTES, INPUT_BYTES = 50_000_000, 5_000_000
THROUGHPUT_SAMPLES = 5


def timed_s(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def whole_command_s(record: LabRecord) -> float:
    """Time the command as a user has it, Python's start included."""
    return timed_s(lambda: subprocess.run([COMMAND, "exec", "--lab", record.name, "rs1", "true"], check=True))


def session_s(record: LabRecord) -> float:
    """Time one session of a process that is running already."""

    def run() -> None:
        with connect(record) as connection:
            if run_session(connection, SessionOrder("rs1", ("true",), {}, terminal=False)):
                raise SystemExit("true failed in rs1")

    return timed_s(run)


class Terminal:
    """The other end of a terminal in which a program of a node runs."""

    def __init__(self, record: LabRecord, words: Sequence[str]) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            tty.setraw(0)
            os.execv(COMMAND, [COMMAND, "exec", "-t", "--lab", record.name, "rs1", "--", *words])  # noqa: S606

    def wait_for(self, text: bytes) -> None:
        seen = b""
        while text not in seen:
            seen += os.read(self._terminal, 1 << 16)

    def press(self, key: bytes) -> None:
        os.write(self._terminal, key)

    def close(self) -> None:
        os.close(self._terminal)
        os.waitpid(self._pid, 0)


@contextmanager
def typing(record: LabRecord, words: Sequence[str], *, prompt: bytes) -> Iterator[Callable[[], float]]:
    """Yield what presses a key and returns the seconds until it is echoed; `prompt` is the last that comes before."""
    terminal = Terminal(record, words)
    letters = iter("abcdefghijklmnopqrstuvwxyz" * 1000)

    def echo_s() -> float:
        letter = next(letters).encode()
        begun = time.perf_counter()
        terminal.press(letter)
        terminal.wait_for(letter)
        return time.perf_counter() - begun

    try:
        terminal.wait_for(prompt)
        yield echo_s
    finally:
        terminal.close()


def output_s(record: LabRecord) -> float:
    script = f"head -c {OUTPUT_BYTES} /dev/zero"
    words = [COMMAND, "exec", "--lab", record.name, "rs1", "--", "sh", "-c", script]
    return timed_s(lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL))


def input_s(record: LabRecord) -> float:
    words = [COMMAND, "exec", "--lab", record.name, "rs1", "--", "sh", "-c", "cat >/dev/null"]
    return timed_s(lambda: subprocess.run(words, check=True, input=bytes(INPUT_BYTES)))


def milliseconds(samples: Sequence[float]) -> str:
    low, middle, high = (1000 * value for value in (min(samples), statistics.median(samples), max(samples)))
    return f"{middle:.1f} ms ({low:.1f} to {high:.1f}) | {len(samples)}"


def megabytes_per_second(size: int, samples: Sequence[float]) -> str:
    low, middle, high = (size / value / 1e6 for value in (max(samples), statistics.median(samples), min(samples)))
    return f"{middle:.1f} MB/s ({low:.1f} to {high:.1f}) | {len(samples)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", help="the lab's name, if several are up")
    parser.add_argument("--samples", type=int, default=30, help="how many of each latency")
    options = parser.parse_args()
    record = find_lab(options.lab)
    count = range(options.samples)
    load_before = os.getloadavg()[0]
    rows = {
        "exec rs1 true, whole command": milliseconds([whole_command_s(record) for _ in count]),
        "the same, session alone": milliseconds([session_s(record) for _ in count]),
    }
    with typing(record, ("sh", "-c", "echo ready; exec cat"), prompt=b"ready\r\n") as echo_s:
        rows["keystroke echo, cat"] = milliseconds([echo_s() for _ in count])
    with typing(record, ("bash", "--norc", "-i"), prompt=b"# ") as echo_s:
        rows["keystroke echo, bash"] = milliseconds([echo_s() for _ in count])
    some = range(THROUGHPUT_SAMPLES)
    rows["output"] = megabytes_per_second(OUTPUT_BYTES, [output_s(record) for _ in some])
    rows["input"] = megabytes_per_second(INPUT_BYTES, [input_s(record) for _ in some])
    click.echo(f"| {record.kernel} {record.release} | median (range) | samples |\n| --- | --- | --- |")
    for name, figures in rows.items():
        click.echo(f"| {name} | {figures} |")
    click.echo(f"\nload: {load_before:.1f} before, {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
