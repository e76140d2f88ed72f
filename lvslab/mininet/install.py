"""Where Mininet is: a Python that can import it, and the program ``mnexec`` that puts a shell into a namespace.

Debian's package ``mininet`` has both, the module for the system's Python. The one on the Python Package Index has only
the module, and is older.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from lvslab.agent.processes import SEARCH_PATH
from lvslab.errors import CannotRun

SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAMS = {"mnexec": "mininet", "ifconfig": "net-tools"}
"""What Mininet's nodes look for, and the Debian packages that have it."""
OPEN_VSWITCH = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl")
INSTALL_HINT = "apt-get install --no-install-recommends mininet; elsewhere pip install 'lvslab[mininet]', and mnexec"


@dataclass(frozen=True, slots=True)
class Installation:
    """A Python that has Mininet, and how that says which version it is."""

    python: str
    version: str


def find_mininet() -> Installation | None:
    """Return the Mininet to use, lvslab's own Python first, or None if there is none that works."""
    return None if _lacking() else _find_python()


def need_mininet() -> Installation:
    """Return the Mininet to use. Raises CannotRun."""
    found = find_mininet()
    if found is None:
        raise _not_installed(_lacking())
    return found


def need_open_vswitch() -> None:
    """Raise CannotRun if Open vSwitch is not installed."""
    lacking = [program for program in OPEN_VSWITCH if not shutil.which(program, path=SEARCH_PATH)]
    if lacking:
        raise CannotRun(
            "Open vSwitch is not installed",
            found=f"no {' and no '.join(lacking)}",
            next_step="apt-get install --no-install-recommends openvswitch-switch, or use --backend mininet",
        )


def need_python() -> str:
    """Return a Python that can import Mininet, which is enough to read a Topo. Raises CannotRun."""
    found = _find_python()
    if found is None:
        raise _not_installed([])
    return found.python


def _not_installed(lacking: list[str]) -> CannotRun:
    return CannotRun(
        "Mininet is not installed",
        expected="its Python module and mnexec",
        found=f"no {' and no '.join(lacking) or 'Python that can import it'}",
        next_step=INSTALL_HINT,
    )


def _lacking() -> list[str]:
    return [program for program in PROGRAMS if not shutil.which(program, path=SEARCH_PATH)]


def _find_python() -> Installation | None:
    own = [sys.executable] if find_spec("mininet") else []
    for python in (*own, SYSTEM_PYTHON):
        version = _version(python)
        if version:
            return Installation(python, version)
    return None


def _version(python: str) -> str:
    """Return the version of the Mininet that a Python can import, or "" if it cannot."""
    try:
        told = subprocess.run(
            [python, "-I", "-W", "ignore", "-c", "from mininet.net import VERSION; print(VERSION)"],
            check=False,
            capture_output=True,
            text=True,
        )
    except OSError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""
