"""Fixtures of the tests that need a real kernel.

`labs_home` keeps all labs of a session in a folder of their own and sees that nothing is left in it, `kernel` is a
kernel booted once per test module, `open_lab_in` builds a topology in it:

    def test_something(open_lab_in: OpenLab) -> None:
        with open_lab_in("dr", real_servers=3) as lab:
            ...
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lvslab.errors import CannotRun
from lvslab.kernels.choose import UP_TIMEOUT_S, choose_kernel
from lvslab.kernels.folder import LOCK
from lvslab.kernels.start import RunningKernel
from lvslab.lab import open_kernel
from tests.kernel.support import OpenLab, lab_in, own_images

# No test rather than a skipped one: a kernel of one's own is not required.
collect_ignore = (
    []
    if own_images()
    else [
        "test_built_kernel.py",
        "test_virtual_time.py",
        "test_connection_times.py",
        "test_schedulers_in_time.py",
        "test_template_times.py",
        "test_defences_in_time.py",
        "test_virtual_bench.py",
        "test_virtual_connections.py",
    ]
)


@pytest.fixture(scope="session", autouse=True)
def labs_home() -> Iterator[Path]:
    """The session's LVSLAB_HOME. Its path is short: sockets below it have at most 107 characters (unix(7))."""
    home = Path(tempfile.mkdtemp(prefix="lvsk-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LVSLAB_HOME", str(home))
        yield home
    left = sorted(path.name for path in home.iterdir() if path.name != LOCK)
    assert not left, f"labs left behind in {home}"
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def kernel_kind(labs_home: Path) -> str:
    """`native` or `uml`: what a lab runs on here. Skips, with the reason, where there is neither."""
    try:
        return choose_kernel()
    except CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def kernel(kernel_kind: str) -> Iterator[RunningKernel]:
    """A kernel that is up, shared by the tests of one module."""
    with open_kernel(kernel_kind, name="test") as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@pytest.fixture
def open_lab_in(kernel: RunningKernel) -> OpenLab:
    """Build a topology (a shipped name, a file or a model; `without=` and parameters as for open_lab)."""
    return partial(lab_in, kernel)
