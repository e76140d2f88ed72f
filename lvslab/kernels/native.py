"""The machine's own kernel: can it do IPVS for us, and how the agent is started on it."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from lvslab.errors import CannotRun
from lvslab.kernels.broker import KERNEL_LINE
from lvslab.kernels.folder import MARK, LabFolder
from lvslab.kernels.start import KernelProgram

NATIVE_PROGRAM = Path(__file__).parents[1] / "agent" / "native.py"
BUILT_IN = {
    "ip_vs": "CONFIG_IP_VS",
    "veth": "CONFIG_VETH",
    "bridge": "CONFIG_BRIDGE",
    "ipip": "CONFIG_NET_IPIP",
    "sctp": "CONFIG_IP_SCTP",
}
"""The option that builds each module we ask for into a kernel."""
NEEDED_CAPABILITIES = 1 << 12 | 1 << 21
"""CAP_NET_ADMIN and CAP_SYS_ADMIN (linux/capability.h)."""
SOCKET_WINDOW_BYTES = 1 << 20
MODPROBE_TIMEOUT_S = 10


def why_not_native() -> str:
    """Return why the running kernel cannot be used, or an empty string when it can."""
    if os.geteuid() != 0:
        return "not root"
    if not has_capabilities(Path("/proc/self/status").read_text()):
        return "root without CAP_NET_ADMIN and CAP_SYS_ADMIN, as in a container"
    if not _in_first_user_namespace():
        return "root in a user namespace, where IPVS cannot be configured"
    if not has_module("ip_vs"):
        return "this kernel has no ip_vs"
    if not has_module("veth"):
        return "this kernel has no veth"
    return ""


def has_capabilities(status: str) -> bool:
    """Tell whether the text of /proc/PID/status shows the capabilities to make namespaces and configure IPVS."""
    effective = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:")), 0)
    return effective & NEEDED_CAPABILITIES == NEEDED_CAPABILITIES


def _in_first_user_namespace() -> bool:
    """Tell whether user numbers are the kernel's own: there all map to themselves (user_namespaces(7))."""
    try:
        return Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(0xFFFFFFFF)]
    except FileNotFoundError:
        return True


def has_module(name: str) -> bool:
    """Tell whether a module is loaded, built in, or can be loaded (nothing is loaded by asking)."""
    if Path("/sys/module", name).exists() or f"{BUILT_IN[name]}=y" in configuration():
        return True
    modprobe = shutil.which("modprobe", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if modprobe is None:
        return False
    question = [modprobe, "-n", "-q", name]
    try:
        asked = subprocess.run(question, check=False, capture_output=True, timeout=MODPROBE_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


@cache
def configuration() -> frozenset[str]:
    """Return the lines of the running kernel's configuration, if it shows one (CONFIG_IKCONFIG_PROC)."""
    try:
        return frozenset(gzip.decompress(Path("/proc/config.gz").read_bytes()).decode().splitlines())
    except OSError:
        return frozenset()


def native_program(folder: LabFolder) -> KernelProgram:
    """Return the program that is the agent on this kernel. Raises CannotRun."""
    reason = why_not_native()
    if reason:
        raise CannotRun(
            "the running kernel cannot be used", found=reason, next_step="use --kernel uml (see lvslab doctor)"
        )
    environment = {
        "LVSLAB_LINE": str(KERNEL_LINE),
        "LVSLAB_SHARE": str(folder.share),
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        MARK: str(folder.path),
    }
    interpreter = str(Path(sys.executable).resolve())
    return KernelProgram([interpreter, "-I", "-S", "-B", str(NATIVE_PROGRAM)], environment, SOCKET_WINDOW_BYTES)
