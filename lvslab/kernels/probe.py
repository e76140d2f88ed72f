"""What this machine offers: each fact with the cure for what is missing. Nothing is changed or loaded by asking."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import CannotRun, LvslabError
from lvslab.kernels import images, native, uml
from lvslab.kernels.build.config import built_in_schedulers
from lvslab.kernels.choose import NATIVE, choose_kernel, split
from lvslab.kernels.folder import labs_home
from lvslab.mininet.install import need_mininet
from lvslab.topology.limits import SCHEDULERS

NATIVE_MODULES = ("ip_vs", "veth", "bridge", "ipip", "sctp")
PROGRAMS = {
    "iptables-legacy": "apt-get install iptables (for firewall marks)",
    "curl": "apt-get install curl (for ftp)",
    "dnsmasq": "apt-get install dnsmasq-base (for rr-dns)",
    "nginx": "apt-get install nginx-light (only for `server: nginx`)",
    "ipvsadm": "apt-get install ipvsadm (only to look for yourself)",
    "tcpdump": "apt-get install tcpdump (only to look for yourself)",
}
OWN_KERNEL_ADVICE = "lvslab kernel build: up in half the time, with every scheduler and nftables (9 minutes to build)"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact; what is not `ok` is no fault by itself, since only `chosen_kernel` decides. `cure` is advice."""

    name: str
    ok: bool
    found: str
    cure: str = ""


def examine_machine() -> tuple[Finding, ...]:
    return tuple(_findings())


def chosen_kernel() -> Finding:
    """Return which kernel a lab would run on, or why none."""
    try:
        kernel = choose_kernel()
    except LvslabError as error:
        return Finding("kernel to use", ok=False, found=error.found or error.what, cure=error.next_step or "")
    image = images.find_image(split(kernel)[1])
    release = f" {image.release}" if kernel != NATIVE and image else ""
    return Finding("kernel to use", ok=True, found=split(kernel)[0] + release)


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
    yield _mininet_finding()
    yield _folder_finding()


def _native_schedulers() -> tuple[str, ...]:
    """Return those that are built in (as far as the kernel tells), are loaded or can be loaded."""
    folder = Path("/lib/modules") / os.uname().release / images.IPVS_MODULES
    have = {
        *built_in_schedulers(native.configuration()),
        *images.scheduler_modules(folder),
        *images.scheduler_modules(Path("/sys/module")),
    }
    return tuple(name for name in SCHEDULERS if name in have)


def _uml_findings() -> Iterator[Finding]:
    known = images.images()
    if not known:
        yield Finding("uml", ok=False, found="no User-Mode Linux", cure=images.INSTALL_HINT)
        return
    for image in known:
        name = f"uml:{image.release}" if image.release else "uml"
        yield Finding(name, ok=True, found=f"{image.origin}, {image.program}")
        schedulers = " ".join(image.schedulers) or "not known before booting"
        yield Finding(f"{name} schedulers", bool(image.schedulers), schedulers)
    if all(image.origin is images.Origin.INSTALLED for image in known):
        yield Finding("uml of your own", ok=False, found="none", cure=OWN_KERNEL_ADVICE)
    try:
        folder = uml.memory_folder(uml.DEFAULT_MEMORY_MIB)
    except CannotRun as error:
        yield Finding("uml memory", ok=False, found=error.found or "", cure=error.next_step or "")
    else:
        yield Finding("uml memory", ok=True, found=f"{uml.DEFAULT_MEMORY_MIB} MiB in {folder}")


def _mininet_finding() -> Finding:
    try:
        mininet = need_mininet()
    except CannotRun as error:
        cure = f"only for --backend mininet: {error.next_step}"
        return Finding("mininet", ok=False, found=error.found or "", cure=cure)
    return Finding("mininet", ok=True, found=f"{mininet.version}, {mininet.python}")


def _folder_finding() -> Finding:
    try:
        return Finding("folder for labs", ok=True, found=str(labs_home()))
    except CannotRun as error:
        return Finding("folder for labs", ok=False, found=str(error), cure=error.next_step or "")
