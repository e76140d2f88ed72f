"""The configuration of lvslab's own kernel, and the check that the source kept every line of it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from lvslab.errors import CannotRun
from lvslab.topology.limits import SCHEDULERS

FRAGMENT = Path(__file__).parent / "uml.config"


def wanted_options(fragment: str) -> tuple[str, ...]:
    """Return the option lines of a fragment, comments and blank lines left out."""
    return tuple(line for line in fragment.splitlines() if line.startswith("CONFIG_"))


def lost_options(fragment: str, configuration: str) -> tuple[str, ...]:
    """Return the options that a finished .config does not have as asked: kconfig drops them without a word."""
    have = set(configuration.splitlines())
    return tuple(line for line in wanted_options(fragment) if line not in have)


def check_configuration(fragment: str, configuration: str, source: str) -> None:
    """Raise CannotRun, naming the options, if the source did not keep every line."""
    lost = lost_options(fragment, configuration)
    if lost:
        raise CannotRun(
            "the kernel's source dropped options",
            where=source,
            expected=", ".join(lost),
            found="other values or nothing in its .config",
            next_step="their names or dependencies changed: correct lvslab/kernels/build/uml.config",
        )


def fragment_sha256() -> str:
    return hashlib.sha256(FRAGMENT.read_bytes()).hexdigest()


def built_in_schedulers(configuration: Collection[str]) -> tuple[str, ...]:
    """Return the IPVS schedulers that the lines of a .config build in (net/netfilter/ipvs/Kconfig)."""
    return tuple(name for name in SCHEDULERS if f"CONFIG_IP_VS_{name.upper()}=y" in configuration)
