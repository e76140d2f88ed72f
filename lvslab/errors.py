"""One root for every error a user may see: what, where, expected, found, what to do next.

The command line prints ``str(error)`` on one line and leaves with ``exit_status``:
1 a check failed, 2 bad usage or a bad file, 3 this machine cannot run it.
"""

from __future__ import annotations

from typing import ClassVar


class LvslabError(Exception):
    """Base of all errors raised by lvslab on purpose."""

    exit_status: ClassVar[int] = 3

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        next_step: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.found = found
        self.next_step = next_step
        super().__init__(self.as_line())

    def as_line(self) -> str:
        """Return ``where: what: expected X, found Y; next step`` with the parts that are known."""
        line = f"{self.where}: {self.what}" if self.where else self.what
        facts = []
        if self.expected is not None:
            facts.append(f"expected {self.expected}")
        if self.found is not None:
            facts.append(f"found {self.found}")
        if facts:
            line += ": " + ", ".join(facts)
        if self.next_step is not None:
            line += f"; {self.next_step}"
        return " ".join(line.split())


class BadInput(LvslabError):
    """A file, an option or an argument the user gave is wrong (exit status 2)."""

    exit_status = 2


class BadInputs(BadInput):
    """Several faults of one file, reported together: one line each."""

    def __init__(self, faults: tuple[BadInput, ...]) -> None:
        self.faults = faults
        super().__init__(f"{len(faults)} faults")

    def __str__(self) -> str:
        return "\n".join(fault.as_line() for fault in self.faults)


class CannotRun(LvslabError):
    """This machine cannot do it; the next step says what would cure that (exit status 3)."""


class KernelFault(LvslabError):
    """The kernel, or the agent inside it, refused or failed something that should work (exit status 3)."""
