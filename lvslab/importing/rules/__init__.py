"""What is wrong with a configuration: one module per subject, one small function per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from lvslab.importing.configuration import Configuration
from lvslab.importing.finding import Finding
from lvslab.importing.rules import ftp, kernel, persistence, servers, together

RULES: Final[tuple[Callable[[Configuration], Iterator[Finding]], ...]] = (
    *kernel.RULES,
    *servers.RULES,
    *persistence.RULES,
    *ftp.RULES,
    *together.RULES,
)


def judge(configuration: Configuration) -> tuple[Finding, ...]:
    """Return everything that is wrong, in order of line, each thing once."""
    found: Iterable[Finding] = (finding for rule in RULES for finding in rule(configuration))
    by_line = sorted((*configuration.findings, *found), key=lambda finding: finding.line)
    first: dict[tuple[int, str], Finding] = {}
    for finding in by_line:
        first.setdefault((finding.line, finding.what), finding)
    return tuple(first.values())
