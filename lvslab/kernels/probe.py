"""What this machine offers: each fact with the cure for what is missing. Nothing is changed or loaded by asking."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import CannotRun
from lvslab.kernels import native, uml
from lvslab.kernels.choose import choose_kernel
from lvslab.kernels.folder import labs_home

SCHEDULER_PREFIX = "ip_vs_"
IPVS_MODULES = "kernel/net/netfilter/ipvs"
NOT_SCHEDULERS = frozenset({"ftp", "pe_sip"})
NATIVE_MODULES = ("ip_vs", "veth", "bridge", "ipip")
PROGRAMS = {
    "dnsmasq": "apt-get install dnsmasq-base (for rr-dns)",
    "nginx": "apt-get install nginx-light (only for `server: nginx`)",
    "ipvsadm": "apt-get install ipvsadm (only to look for yourself)",
    "tcpdump": "apt-get install tcpdump (only to look for yourself)",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact. `needed` tells whether lvslab cannot work without it on the kernel it would choose."""

    name: str
    ok: bool
    found: str
    cure: str = ""


def examine_machine() -> tuple[Finding, ...]:
    return tuple(_findings())


def chosen_kernel() -> Finding:
    """Return which kernel a lab would run on, or why none."""
    try:
        kind = choose_kernel()
    except CannotRun as error:
        return Finding("kernel to use", ok=False, found=error.found or error.what, cure=error.next_step or "")
    return Finding("kernel to use", ok=True, found=kind)


def _findings() -> Iterator[Finding]:
    root = os.geteuid() == 0
    cure = "" if root else "not needed with uml; native needs root"
    yield Finding("user", root, "root" if root else "an ordinary user", cure)
    reason = native.why_not_native()
    yield Finding("native kernel", not reason, reason or "can be used", "uml needs nothing of it" if reason else "")
    for module in NATIVE_MODULES:
        present = native.has_module(module)
        found = "in this kernel" if present else "not in this kernel"
        yield Finding(f"native {module}", present, found, "" if present else "uml brings a kernel that has it")
    schedulers = _native_schedulers()
    yield Finding("native schedulers", bool(schedulers), " ".join(schedulers) or "none", "")
    yield from _uml_findings()
    for program, install in PROGRAMS.items():
        path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        yield Finding(program, path is not None, path or "not installed", "" if path else install)
    yield _folder_finding()


def _native_schedulers() -> list[str]:
    """Return those that are loaded, are built in (as far as /sys/module tells) or can be loaded."""
    folder = Path("/lib/modules") / os.uname().release / IPVS_MODULES
    return sorted({*_scheduler_names(folder), *_scheduler_names(Path("/sys/module"))})


def _uml_findings() -> Iterator[Finding]:
    image = uml.find_image()
    if image is None:
        yield Finding("uml", ok=False, found="not installed", cure=uml.INSTALL_HINT)
        return
    yield Finding("uml", ok=True, found=f"{image.program} {image.release}".strip())
    if image.modules is not None:
        names = _scheduler_names(image.modules / image.release / IPVS_MODULES)
        yield Finding("uml schedulers", bool(names), " ".join(names), "")
    try:
        folder = uml.memory_folder(uml.DEFAULT_MEMORY_MIB)
    except CannotRun as error:
        yield Finding("uml memory", ok=False, found=error.found or "", cure=error.next_step or "")
    else:
        yield Finding("uml memory", ok=True, found=f"{uml.DEFAULT_MEMORY_MIB} MiB in {folder}")


def _scheduler_names(folder: Path) -> list[str]:
    """Return the schedulers that a kernel has as modules (net/netfilter/ipvs/Makefile: ip_vs_NAME.ko)."""
    if not folder.is_dir():
        return []
    names = {path.name.split(".", 1)[0].removeprefix(SCHEDULER_PREFIX) for path in folder.glob(f"{SCHEDULER_PREFIX}*")}
    return sorted(names - NOT_SCHEDULERS)


def _folder_finding() -> Finding:
    try:
        return Finding("folder for labs", ok=True, found=str(labs_home()))
    except CannotRun as error:
        return Finding("folder for labs", ok=False, found=str(error), cure=error.next_step or "")
