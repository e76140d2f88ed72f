"""The agent on the running kernel: the same agent, in namespaces that die with it.

``python3 -I -S native.py`` (as root) takes private mount and process namespaces and becomes process 1 of
the latter, so that the end of the agent ends everything started in the lab and frees every network
namespace, even after ``kill -9``. The host's own network namespace gets no link and no setting.

The environment gives LVSLAB_LINE (descriptor of the line) and LVSLAB_SHARE (the lab's folder).
"""

import os
import signal
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from lvslab.agent import syscalls
from lvslab.agent.main import Agent
from lvslab.agent.namespaces import NETNS_FOLDER


def main() -> None:
    syscalls.unshare(syscalls.CLONE_NEWNS | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWUTS)
    line = int(os.environ["LVSLAB_LINE"])
    child = os.fork()
    if child == 0:
        syscalls.die_with_parent(signal.SIGKILL)
        make_mounts(os.environ["LVSLAB_SHARE"])
        syscalls.sethostname("lvslab")
        # The host's own network namespace stays out of reach of a faulty request.
        syscalls.unshare(syscalls.CLONE_NEWNET)
        Agent(line).run()
        os._exit(0)
    os.close(line)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def make_mounts(share: str) -> None:
    """Cover /proc and /run with the lab's own; the lab's folder stays reachable where it was."""
    syscalls.mount("none", "/", "none", syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount("proc", "/proc", "proc")
    folder = os.open(share, os.O_PATH | os.O_DIRECTORY)
    syscalls.mount("lvslab", "/run", "tmpfs")
    Path(share).mkdir(parents=True, exist_ok=True)
    syscalls.mount(f"/proc/self/fd/{folder}", share, "none", syscalls.MS_BIND)
    os.close(folder)
    NETNS_FOLDER.mkdir(parents=True)


if __name__ == "__main__":
    main()
