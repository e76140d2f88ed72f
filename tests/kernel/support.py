"""What several kernel tests need: labs in a kernel that is up, and the real command line."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from lvslab.kernels.images import Origin, UmlImage, images
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, running_lab
from lvslab.plan.steps import Plan
from lvslab.sandbox.sandbox import Finished, Sandbox
from lvslab.topology import load_topology
from lvslab.topology.model import Topology

COMMAND = Path(sys.executable).with_name("lvslab")
COMMAND_TIMEOUT_S = 300.0
"""A stop for what hangs; no test is about how long a command takes."""


class OpenLab(Protocol):
    """Builds a topology in the module's kernel."""

    def __call__(
        self, topology: str | Path | Topology, *, without: Sequence[str] = (), **params: Any
    ) -> AbstractContextManager[Lab]: ...


def lab_in(
    kernel: RunningKernel, topology: str | Path | Topology, *, without: Sequence[str] = (), **params: Any
) -> AbstractContextManager[Lab]:
    """Build `topology` in `kernel`; see OpenLab."""
    if not isinstance(topology, Topology):
        topology = load_topology(topology, params=params, without=without)
    return running_lab(kernel, topology)


def lvslab(*words: str | Path, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, as a user does."""
    return subprocess.run(
        [COMMAND, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=COMMAND_TIMEOUT_S,
        env={**os.environ, **(environment or {})},
    )


def run_outside(kernel: RunningKernel, *argv: str, timeout_s: float = COMMAND_TIMEOUT_S) -> Finished:
    """Run a program in a kernel but in none of a lab's nodes: where the agent itself is."""
    return Sandbox(kernel, Plan("", ())).run("", argv, timeout_s=timeout_s)


def run_script(kernel: RunningKernel, script: str, *arguments: str, timeout_s: float = COMMAND_TIMEOUT_S) -> Finished:
    """Run shell text there; it may be longer than a command line."""
    path = kernel.folder.share / f"script-{secrets.token_hex(4)}"
    path.write_text(script)
    try:
        return run_outside(kernel, "sh", str(path), *arguments, timeout_s=timeout_s)
    finally:
        path.unlink()


def own_images() -> tuple[UmlImage, ...]:
    """Return the kernels that were built with `lvslab kernel build`, here or elsewhere."""
    return tuple(image for image in images() if image.origin is not Origin.INSTALLED)
