"""First process of a User-Mode Linux guest: makes a root of its own, then becomes the agent.

The kernel starts this file as PID 1, with ``python3 -s -P -S -B``, with the host's root mounted read-only through
hostfs. On top comes an overlay whose upper layer is memory, so the guest may write anywhere and the host
sees nothing of it; only the lab's own folder is mounted through, writable.

The lab's folder is where the kernel was started. In it are ``share``, and links to the interpreter, to this
package and, if the kernel has modules, to the folder of RELEASE/modules.dep; so no path is part of the kernel's
command line. Its word LVSLAB_TIME (real or virtual) arrives as the environment.
"""

import os
import sys
import termios
import tty
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from lvslab.agent import modules, syscalls
from lvslab.agent.main import Agent
from lvslab.agent.namespaces import NETNS_FOLDER

LAB = Path("/proc/self/cwd").resolve()
"""Not our working directory but the kernel's, on the host: there it looks up what the guest has not mounted itself."""
WORK = Path("/tmp")  # noqa: S108 - the guest's own, about to be covered
LINE = "/dev/ttyS0"
SHARE, MODULES = "share", "modules"
SEED = b"the same random numbers each time"
"""For a kernel that gets none from the machine, because its runs are to repeat exactly."""
MAX_NEIGHBOURS = "65536"
CPUINFO = Path("/proc/cpuinfo")


def main() -> None:
    virtual_time = os.environ.get("LVSLAB_TIME") == "virtual"
    module_source = (LAB / MODULES).resolve() if (LAB / MODULES).exists() else None
    syscalls.mount("proc", "/proc", "proc")
    syscalls.mount("sysfs", "/sys", "sysfs")
    make_root(module_source)
    enter_root(str(LAB / SHARE), module_source)
    if virtual_time:
        syscalls.seed_random_numbers(SEED)
    allow_many_neighbours()
    complete_cpuinfo()
    syscalls.sethostname("lvslab")
    line = os.open(LINE, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line, termios.TCSANOW)
    if virtual_time:
        push_when_writing(line)
    Agent(line, virtual_time=virtual_time).run()
    termios.tcdrain(line)
    syscalls.power_off()


def push_when_writing(line: int) -> None:
    """Have every write try first to send what is held back: output processing does so, with nothing to process."""
    attributes = termios.tcgetattr(line)
    attributes[tty.OFLAG] = termios.OPOST
    termios.tcsetattr(line, termios.TCSANOW, attributes)


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


def make_root(module_source: Path | None) -> None:
    """Lay a writable overlay over the host's root."""
    syscalls.mount("lvslab", str(WORK), "tmpfs")
    upper, work, root = (WORK / name for name in ("upper", "work", "root"))
    for folder in (upper, work, root):
        folder.mkdir()
    if module_source is not None:
        load_overlay(module_source)
    layers = f"lowerdir=/,upperdir={upper},workdir={work}"
    syscalls.mount("lvslab", str(root), "overlay", 0, layers)
    for name in ("proc", "sys", "dev", "run", "tmp"):
        (root / name).mkdir(exist_ok=True)
    syscalls.mount("lvslab", str(root / "run"), "tmpfs")


def enter_root(share: str, module_source: Path | None) -> None:
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
    # A mount of its own, or ip(8) would put one over the namespaces that are there, and hold them for ever.
    syscalls.mount("lvslab", str(NETNS_FOLDER), "tmpfs")
    syscalls.unmount("/run/host", syscalls.MNT_DETACH)
    if module_source is not None:
        link_modules(module_source)
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
