"""Errno to words: what the kernel refused, the likely cause, and what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Final

from lvslab.errors import KernelFault

_ANY: Final = ""

_CAUSES: Final[Mapping[tuple[int, str], str]] = {
    (errno.EPERM, _ANY): "IPVS obeys only root of the initial user namespace: run as root, or in a kernel of your own",
    (errno.EACCES, _ANY): "IPVS obeys only root of the initial user namespace: run as root, or in a kernel of your own",
    (errno.ENOENT, "family"): "the ip_vs module is not loaded: modprobe ip_vs, or use a kernel that has it",
    (
        errno.ENOENT,
        "service",
    ): "this kernel lacks that scheduler or persistence engine: load its module (ip_vs_rr, …), or use another",
    (errno.ENOENT, "destination"): "the service has no such destination",
    (errno.EEXIST, "service"): "the service exists already: set it, or delete it first",
    (errno.EEXIST, "destination"): "the service has this destination already: set it, or delete it first",
    (errno.EEXIST, "sync daemon"): "a daemon of this role is running: stop it first",
    (errno.ESRCH, "service"): "there is no such service",
    (errno.ESRCH, "destination"): "there is no such service: add it before its destinations",
    (errno.ESRCH, "sync daemon"): "no daemon of this role is running",
    (errno.EINVAL, "service"): "the kernel found an attribute wrong or missing: check the persistence prefix",
    (errno.EINVAL, "destination"): (
        "the address is not unicast or local in this namespace's routing table, or the address families are mixed "
        "while a sync daemon runs: check the address, stop the daemon"
    ),
    (errno.EINVAL, "sync daemon"): (
        "a destination of another address family than its service rules out synchronisation, or the group is wrong: "
        "remove the destination"
    ),
    (errno.ENODEV, "sync daemon"): "the namespace has no such interface: create it and set it up",
    (errno.ERANGE, "destination"): "the kernel found the weight or a threshold out of range",
    (errno.EAFNOSUPPORT, _ANY): "this kernel's IPVS was built without IPv6: use one with CONFIG_IP_VS_IPV6",
    (errno.EOPNOTSUPP, _ANY): "this kernel's IPVS does not know the command: use a newer kernel",
    (errno.ENOMEM, _ANY): "the kernel is out of memory: give it more, or use fewer servers",
}


def kernel_fault(namespace: str, operation: str, subject: str, code: int) -> KernelFault:
    """Build the error for an operation, such as `add service TCP 192.0.2.1:80`, that the kernel refused.

    `subject` is the kind of thing it was about (service, destination, sync daemon, family, …); `code` a positive errno.
    """
    return KernelFault(
        f"IPVS would not {operation}",
        where=namespace,
        found=f"{errno.errorcode.get(code, code)} ({os.strerror(code)})",
        next_step=_CAUSES.get((code, subject)) or _CAUSES.get((code, _ANY)),
    )
