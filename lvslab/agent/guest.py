"""First process of a User-Mode Linux guest: makes a root of its own, then becomes the agent.

The kernel starts ``python3 -I -S guest.py`` as PID 1 with the host's root mounted read-only through
hostfs. On top comes an overlay whose upper layer is memory, so the guest may write anywhere and the host
sees nothing of it; only the lab's own folder is mounted through, writable.

Words of the kernel command line arrive as the environment: LVSLAB_SHARE (the lab's folder),
LVSLAB_MODULES (folder holding RELEASE/modules.dep, or empty).
"""

import os
import sys
import termios
import tty
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from lvslab.agent import modules, syscalls
from lvslab.agent.main import Agent
from lvslab.agent.namespaces import NETNS_FOLDER

WORK = Path("/tmp")  # noqa: S108 - the guest's own, about to be covered
LINE = "/dev/ttyS0"
MAX_NEIGHBOURS = "65536"
CPUINFO = Path("/proc/cpuinfo")


def main() -> None:
    syscalls.mount("proc", "/proc", "proc")
    syscalls.mount("sysfs", "/sys", "sysfs")
    module_source = os.environ.get("LVSLAB_MODULES", "")
    make_root(module_source)
    enter_root(os.environ["LVSLAB_SHARE"], module_source)
    allow_many_neighbours()
    complete_cpuinfo()
    syscalls.sethostname("lvslab")
    line = os.open(LINE, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line, termios.TCSANOW)
    Agent(line).run()
    termios.tcdrain(line)
    syscalls.power_off()


def allow_many_neighbours() -> None:
    """The neighbour table is one for all namespaces (Documentation/networking/ip-sysctl.rst: gc_thresh3)."""
    for table in Path("/proc/sys/net").glob("ipv[46]/neigh/default"):
        for threshold in ("gc_thresh3", "gc_thresh2", "gc_thresh1"):
            (table / threshold).write_text(MAX_NEIGHBOURS)


def complete_cpuinfo() -> None:
    """Name the processor's core, which arch/um does not: without it ps of procps 4.0.2 gives up (library/stat.c)."""
    copy = Path("/run/cpuinfo")
    copy.write_text(CPUINFO.read_text().rstrip() + "\ncore id\t\t: 0\n\n")
    syscalls.mount(str(copy), str(CPUINFO), "none", syscalls.MS_BIND)


def make_root(module_source: str) -> None:
    """Lay a writable overlay over the host's root."""
    syscalls.mount("lvslab", str(WORK), "tmpfs")
    upper, work, root = (WORK / name for name in ("upper", "work", "root"))
    for folder in (upper, work, root):
        folder.mkdir()
    if module_source:
        load_overlay(Path(module_source))
    layers = f"lowerdir=/,upperdir={upper},workdir={work}"
    syscalls.mount("lvslab", str(root), "overlay", 0, layers)
    for name in ("proc", "sys", "dev", "run", "tmp"):
        (root / name).mkdir(exist_ok=True)
    syscalls.mount("lvslab", str(root / "run"), "tmpfs")


def enter_root(share: str, module_source: str) -> None:
    """Make the overlay the root. The lab's folder comes last, so that it may be anywhere, below /dev/shm too."""
    old = WORK / "root" / "run" / "host"
    old.mkdir()
    syscalls.pivot_root(str(WORK / "root"), str(old))
    os.chdir("/")
    syscalls.mount("proc", "/proc", "proc")
    syscalls.mount("sysfs", "/sys", "sysfs")
    syscalls.mount("devtmpfs", "/dev", "devtmpfs")
    for name, kind in (("pts", "devpts"), ("shm", "tmpfs")):
        Path("/dev", name).mkdir(exist_ok=True)
        syscalls.mount(kind, f"/dev/{name}", kind)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        # devtmpfs has no links; programs and shells expect these (proc(5): /proc/PID/fd).
        Path("/dev", name).symlink_to(f"/proc/self/fd{target}")
    NETNS_FOLDER.mkdir(parents=True)
    syscalls.unmount("/run/host", syscalls.MNT_DETACH)
    if module_source:
        link_modules(Path(module_source))
    Path(share).mkdir(parents=True, exist_ok=True)
    syscalls.mount("none", share, "hostfs", 0, share)


def load_overlay(source: Path) -> None:
    """Load overlayfs before there is a /lib/modules for this kernel."""
    table = source / os.uname().release / "modules.dep"
    if table.exists():
        modules.load_from(table, ["overlay"])


def link_modules(source: Path) -> None:
    folder = modules.module_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        folder.symlink_to(source / folder.name)


if __name__ == "__main__":
    main()
