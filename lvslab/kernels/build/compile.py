"""Builds the kernel: configure, check, compile, strip, and into the cache.

Date, user and host are fixed, so that the same source and configuration with the same compiler and C library
should give the same bytes (Documentation/kbuild/reproducible-builds.rst).
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

from lvslab.errors import CannotRun
from lvslab.kernels.build.config import FRAGMENT, built_in_schedulers, check_configuration, fragment_sha256
from lvslab.kernels.build.make import run_make
from lvslab.kernels.build.source import Source, extract, find_source
from lvslab.kernels.build.work import work_folder
from lvslab.kernels.cache import CONFIG, MODULES, PROGRAM, BuiltKernel, add_kernel

TOOLS = ("make", "gcc", "flex", "bison", "bc", "perl", "xz", "tar", "strip", "depmod")
TOOLS_HINT = "apt-get install make gcc flex bison bc perl xz-utils tar binutils kmod libc6-dev"
LOCAL_VERSION = "-lvslab"
ADMIN_PATH = "/usr/sbin:/sbin"
STEP_TIMEOUT_S = 300
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "2000-01-01",
    "KBUILD_BUILD_USER": "lvslab",
    "KBUILD_BUILD_HOST": "lvslab",
    "KBUILD_BUILD_VERSION": "1",
}

Phase = Callable[[str], AbstractContextManager[object]]


def build_kernel(wanted: str, *, jobs: int, phase: Phase, compiled: Callable[[], None]) -> BuiltKernel:
    """Build a kernel from `wanted` (a linux-source package or an archive) and put it into the cache.

    `compiled` is called for each C file. Call it in the main thread: it handles signals, so that however it ends
    no process and no folder is left. Raises BadInput or CannotRun.
    """
    _check_machine()
    with _ended_by_signals(), work_folder() as folder:
        with phase(f"fetch {wanted}"):
            source = find_source(wanted, folder)
        with phase(f"unpack {source.name}"):
            tree = extract(source, folder)
        output = folder / "output"
        output.mkdir()
        with phase("configure"):
            configure(tree, output, source.name)
        with phase("compile (about 9 minutes on two processors)"):
            _make(tree, output, [f"-j{jobs}", "linux"], {}, compiled)
        with phase("install"):
            return _install(output, source)


def _check_machine() -> None:
    if platform.machine() != "x86_64":
        raise CannotRun("User-Mode Linux runs on x86-64 only", found=platform.machine())
    missing = [tool for tool in TOOLS if shutil.which(tool, path=_environment()["PATH"]) is None]
    if missing:
        raise CannotRun("tools to build a kernel are missing", found="no " + ", ".join(missing), next_step=TOOLS_HINT)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Leave as by an exception, with everything cleared away, when told to end."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    earlier = {number: signal.signal(number, leave) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def configure(tree: Path, output: Path, source: str) -> None:
    """Write output/.config for the kernel whose source is in `tree`. Raises CannotRun if options are lost."""
    fragment = FRAGMENT.read_text()
    complete = output.parent / "fragment"
    complete.write_text(f'{fragment}CONFIG_LOCALVERSION="{LOCAL_VERSION}"\n')
    _make(tree, output, ["allnoconfig"], {"KCONFIG_ALLCONFIG": str(complete)}, lambda: None)
    check_configuration(fragment, (output / ".config").read_text(), source)


def _make(tree: Path, output: Path, goals: list[str], extra: dict[str, str], compiled: Callable[[], None]) -> None:
    run_make(["-C", str(tree), "ARCH=um", f"O={output}"], goals, _environment() | extra, compiled)


def _install(output: Path, source: Source) -> BuiltKernel:
    release = (output / "include/config/kernel.release").read_text().strip()
    made = output.parent / "made"
    (made / MODULES).mkdir(parents=True)
    _run(["strip", "-o", str(made / PROGRAM), str(output / "linux")])
    shutil.copyfile(output / ".config", made / CONFIG)
    _index_modules(output, output.parent / "index", release).rename(made / MODULES / release)
    kernel = BuiltKernel(
        release=release,
        source=source.name,
        source_sha256=source.sha256(),
        config_sha256=fragment_sha256(),
        program_sha256=hashlib.sha256((made / PROGRAM).read_bytes()).hexdigest(),
        schedulers=built_in_schedulers((made / CONFIG).read_text().splitlines()),
    )
    add_kernel(kernel, made)
    return kernel


def _index_modules(output: Path, folder: Path, release: str) -> Path:
    """Return the folder with depmod's indices of what is built in: without them modprobe fails for all of it."""
    modules = folder / "lib/modules" / release
    modules.mkdir(parents=True)
    for name in ("modules.builtin", "modules.builtin.modinfo"):
        shutil.copyfile(output / name, modules / name)
    (modules / "modules.order").touch()
    _run(["depmod", "-b", str(folder), release])
    return modules


def _run(argv: list[str]) -> None:
    """Run what takes no time. Raises CannotRun."""
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=STEP_TIMEOUT_S, env=_environment())
    if done.returncode:
        raise CannotRun(f"{argv[0]} failed", found=done.stderr.strip() or f"exit status {done.returncode}")


def _environment() -> dict[str, str]:
    """Return an environment in which nothing of the user's changes what is built."""
    return {"PATH": f"{os.environ.get('PATH', os.defpath)}:{ADMIN_PATH}", "LC_ALL": "C", **_FIXED}
