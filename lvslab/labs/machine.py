"""A lab's network in a kernel that is already up, for as long as a proof or a grading needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, open_kernel
from lvslab.labs.keyboard import type_lines
from lvslab.labs.model import GuidedLab
from lvslab.labs.solution import setup_of
from lvslab.labs.transcript import Line


@contextmanager
def open_ready_kernel(kernel: str | None, *, memory_mib: int) -> Iterator[RunningKernel]:
    """Boot a kernel for many labs, one after another. Raises CannotRun, KernelFault."""
    with open_kernel(kernel, name="labs", memory_mib=memory_mib) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@contextmanager
def fresh_lab(kernel: RunningKernel, guided: GuidedLab) -> Iterator[Lab]:
    """Build the lab as a student finds it, and take it down when the body ends. Raises KernelFault."""
    from lvslab.plan import make_plan
    from lvslab.sandbox.machines import machine_files
    from lvslab.sandbox.sandbox import Sandbox

    sandbox = Sandbox(kernel, make_plan(guided.topology))
    sandbox.build()
    try:
        sandbox.make_machines(machine_files(guided.topology))
        lab = Lab(guided.topology, kernel, sandbox, shared=True)
        set_up(lab, guided)
        yield lab
    finally:
        sandbox.remove()


def set_up(lab: Lab, guided: GuidedLab) -> None:
    """Type what belongs to the lab's start. Raises KernelFault."""
    type_lines(lab, setup_of(guided).lines, _no_answers)


def _no_answers(line: Line) -> None:
    raise ValueError(f"{line.where}: the set-up answers nothing")
