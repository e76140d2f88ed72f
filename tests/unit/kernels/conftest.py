"""Labs whose kernel is a small program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from lvslab.kernels.broker import KERNEL_LINE
from lvslab.kernels.folder import MARK, LabFolder
from lvslab.kernels.start import KernelProgram, RunningKernel, start_kernel

FAKE_GUEST = Path(__file__).with_name("fake_guest.py")
WINDOW_BYTES = 2048
UP_TIMEOUT_S = 30.0


class StartFake(Protocol):
    def __call__(self, word: str, alarm_s: float | None = None) -> RunningKernel: ...


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for labs of the test's own."""
    path = tmp_path / "labs"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("LVSLAB_HOME", str(path))
    return path


def fake_program(word: str, alarm_s: float | None = None) -> Callable[[LabFolder], KernelProgram]:
    def program(folder: LabFolder) -> KernelProgram:
        argv = [str(Path(sys.executable).resolve()), "-I", "-S", "-B", str(FAKE_GUEST), str(KERNEL_LINE), word]
        return KernelProgram(argv, {MARK: str(folder.path)}, WINDOW_BYTES, alarm_s=alarm_s)

    return program


@pytest.fixture
def start_fake(home: Path) -> Iterator[StartFake]:
    """Start a lab whose kernel does what a word says (see fake_guest.py)."""
    started: list[RunningKernel] = []

    def start(word: str, alarm_s: float | None = None) -> RunningKernel:
        started.append(start_kernel("fake", "fake", fake_program(word, alarm_s)))
        return started[-1]

    yield start
    for kernel in started:
        kernel.close()
    assert [path.name for path in home.iterdir() if path.name.startswith("lvslab-")] == []
