"""Reads and writes of /proc files as a namespace sees them: sysctls and tables under /proc/net."""

from __future__ import annotations

import os
from pathlib import Path

from lvslab.agent.namespaces import Namespaces

SYSCTL_FOLDER = Path("/proc/sys")


def read_file(namespaces: Namespaces, node: str, path: str) -> bytes:
    with namespaces.inside(node):
        return Path(path).read_bytes()


def read_sysctl(namespaces: Namespaces, node: str, key: str) -> str:
    return read_file(namespaces, node, str(sysctl_path(key))).decode().strip()


def write_sysctl(namespaces: Namespaces, node: str, key: str, value: str) -> str:
    """Write a sysctl and return what the kernel then says it is."""
    path = sysctl_path(key)
    with namespaces.inside(node):
        fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)
        return path.read_text().strip()


def sysctl_path(key: str) -> Path:
    """Return the file of a sysctl key; a slash in the key stands for a dot in an interface's name (sysctl(8))."""
    return SYSCTL_FOLDER.joinpath(*(part.replace("/", ".") for part in key.split(".")))
