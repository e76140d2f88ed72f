"""Builds the kernel: configure, check, compile, strip, and into the cache.

Reproducible: the same source and configuration with the same compiler give the same bytes, since date, user
and host are fixed (Documentation/kbuild/reproducible-builds.rst).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from lvslab.errors import CannotRun
from lvslab.kernels.build.config import FRAGMENT, check_configuration, fragment_sha256
from lvslab.kernels.build.source import Source, extract, find_source
from lvslab.kernels.cache import BuiltKernel, add_kernel

TOOLS = ("make", "gcc", "flex", "bison", "bc", "xz", "tar", "strip")
TOOLS_HINT = "apt-get install make gcc flex bison bc xz-utils tar binutils libc6-dev"
LOCAL_VERSION = "-lvslab"
ROOM_MIB = 3000
STEP_TIMEOUT_S = 7200
REPORT_EVERY = 100
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "2000-01-01",
    "KBUILD_BUILD_USER": "lvslab",
    "KBUILD_BUILD_HOST": "lvslab",
    "KBUILD_BUILD_VERSION": "1",
}

Phase = Callable[[str], AbstractContextManager[object]]


def build_kernel(wanted: str, *, jobs: int, phase: Phase, compiled: Callable[[int], None]) -> BuiltKernel:
    """Build a kernel from `wanted` (a linux-source package or an archive) and put it into the cache.

    `compiled` is told the number of files compiled so far. Raises BadInput or CannotRun; the work folder is removed
    in either case.
    """
    _check_tools()
    with tempfile.TemporaryDirectory(prefix="lvslab-kernel-", dir=_work_folder()) as name:
        folder = Path(name)
        with phase(f"fetch {wanted}"):
            source = find_source(wanted, folder)
        with phase(f"unpack {source.name}"):
            tree = extract(source, folder)
        output = folder / "output"
        output.mkdir()
        with phase("configure"):
            _configure(tree, output, source)
        with phase("compile (about 9 minutes on two processors)"):
            _compile(tree, output, jobs, compiled)
        return _install(output, source)


def _check_tools() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise CannotRun("tools to build a kernel are missing", found=", ".join(missing), next_step=TOOLS_HINT)


def _work_folder() -> Path:
    folder = Path(os.environ.get("TMPDIR") or "/var/tmp")  # noqa: S108 - a fresh folder is made in it
    free_mib = shutil.disk_usage(folder).free >> 20
    if free_mib < ROOM_MIB:
        raise CannotRun(
            "not enough room to build",
            where=str(folder),
            expected=f"{ROOM_MIB} MiB",
            found=f"{free_mib} MiB",
            next_step="set TMPDIR to a folder with more room",
        )
    return folder


def _configure(tree: Path, output: Path, source: Source) -> None:
    fragment = FRAGMENT.read_text()
    complete = output.parent / "fragment"
    complete.write_text(f'{fragment}CONFIG_LOCALVERSION="{LOCAL_VERSION}"\n')
    _make(tree, output, ["allnoconfig"], {"KCONFIG_ALLCONFIG": str(complete)}, None)
    check_configuration(fragment, (output / ".config").read_text(), source.name)


def _compile(tree: Path, output: Path, jobs: int, compiled: Callable[[int], None]) -> None:
    _make(tree, output, [f"-j{jobs}", "linux"], {}, compiled)


def _make(
    tree: Path, output: Path, goals: list[str], extra: dict[str, str], compiled: Callable[[int], None] | None
) -> None:
    argv = ["make", "-C", str(tree), "ARCH=um", f"O={output}", *goals]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **_FIXED, **extra}
    log = output.parent / "make.log"
    with (
        log.open("w+") as messages,
        subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=messages, text=True) as process,
    ):
        if process.stdout is None:
            raise CannotRun("make has no output")
        count = 0
        for line in process.stdout:
            count += line.lstrip().startswith("CC ")
            if compiled is not None and count and count % REPORT_EVERY == 0:
                compiled(count)
        status = process.wait(STEP_TIMEOUT_S)
        messages.seek(0)
        words = [line for line in messages.read().splitlines() if "error" in line.lower()]
    if status:
        raise CannotRun(
            "the kernel does not build", where=" ".join(goals), found=words[0] if words else f"make: {status}"
        )


def _install(output: Path, source: Source) -> BuiltKernel:
    program = output.parent / "linux"
    stripped = subprocess.run(["strip", "-o", program, output / "linux"], check=False, timeout=300)
    if stripped.returncode:
        raise CannotRun("strip failed", where=str(output / "linux"))
    kernel = BuiltKernel(
        release=(output / "include/config/kernel.release").read_text().strip(),
        source=source.name,
        source_sha256=source.sha256(),
        config_sha256=fragment_sha256(),
        program_sha256=hashlib.sha256(program.read_bytes()).hexdigest(),
    )
    add_kernel(kernel, program)
    return kernel
