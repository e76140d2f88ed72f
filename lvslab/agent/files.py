"""Reads and writes of /proc files as a namespace sees them: sysctls and tables under /proc/net."""

from __future__ import annotations

import os
from pathlib import Path

from lvslab.agent.namespaces import Namespaces

SYSCTL_FOLDER = Path("/proc/sys")
SYSCTL_BYTES = 4096
"""More than any that a topology may set."""


def read_file(namespaces: Namespaces, node: str, path: str) -> bytes:
    with namespaces.inside(node):
        return Path(path).read_bytes()


def read_sysctl(namespaces: Namespaces, node: str, key: str) -> str:
    return read_file(namespaces, node, str(sysctl_path(key))).decode().strip()


def write_sysctl(key: str, value: str) -> str:
    """Write a sysctl of the present namespace and return what the kernel then says it is."""
    fd = os.open(sysctl_path(key), os.O_RDWR)
    try:
        os.write(fd, value.encode())
        return os.pread(fd, SYSCTL_BYTES, 0).decode().strip()
    finally:
        os.close(fd)


def sysctl_path(key: str) -> Path:
    """Return the file of a sysctl key; a slash in the key stands for a dot in an interface's name (sysctl(8))."""
    return SYSCTL_FOLDER.joinpath(*(part.replace("/", ".") for part in key.split(".")))
