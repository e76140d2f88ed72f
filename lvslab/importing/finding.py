"""What is wrong with a line of an imported file, and what a reader of it should know."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.errors import BadInput


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong. A fault is refused, ignored or changed by the kernel, or serves nobody; a warning works, but
    hardly as meant.
    """

    line: int
    what: str
    expected: str | None = None
    found: str | None = None
    next_step: str | None = None
    is_warning: bool = False

    @classmethod
    def of(cls, error: BadInput, line: int) -> Finding:
        return cls(line, error.what, error.expected, error.found, error.next_step)

    def bad_input(self, source: str) -> BadInput:
        return BadInput(
            f"warning: {self.what}" if self.is_warning else self.what,
            where=f"{source}:{self.line}",
            expected=self.expected,
            found=self.found,
            next_step=self.next_step,
        )


@dataclass(frozen=True, slots=True)
class Note:
    """What was assumed, or left out; about a line, or about the file as a whole."""

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return self.text if self.line is None else f"line {self.line}: {self.text}"
