"""Filling in a topology's Jinja2 template, remembering which source line each rendered line came from."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import SandboxedEnvironment

from lvslab.errors import BadInput
from lvslab.topology.source import LINE_MARK_END, LINE_MARK_START

RENDERED_LIMIT = 1024 * 1024
"""Characters, line marks included; stops loops that run away."""

_MARK = re.compile(f"{LINE_MARK_START}([0-9]{{1,7}}){LINE_MARK_END}")
_TEMPLATE_FAULTS = (TemplateError, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What an expression of a template can raise when it is evaluated."""


@dataclass(frozen=True, slots=True)
class Rendered:
    text: str
    lines: tuple[int, ...]
    """Source line of each line of `text`, counting from 1."""

    def source_line(self, rendered_line: int) -> int:
        """Return the source line of a rendered line, both counting from 1; past the end, the last one's."""
        return self.lines[min(rendered_line, len(self.lines)) - 1]


class _MarkLines(Extension):
    """Writes its source line number in front of each piece of literal text."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            yield Token(token.lineno, token.type, _marked(token)) if token.type == "data" else token


def _marked(token: Token) -> str:
    pieces = token.value.split("\n")
    return "\n".join(
        f"{LINE_MARK_START}{token.lineno + offset}{LINE_MARK_END}{piece}" if piece or offset == 0 else piece
        for offset, piece in enumerate(pieces)
    )


_ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    extensions=[_MarkLines],
)


def render(
    text: str, source: str, params: Mapping[str, object], *, names: str = "parameters of this topology"
) -> Rendered:
    """Render `text` as a Jinja2 template; raises :class:`~lvslab.errors.BadInput` at the faulty line.

    `names` says in errors what `params` are.
    """
    try:
        return _without_marks(_limited(_ENVIRONMENT.from_string(text).generate(params), source))
    except TemplateSyntaxError as error:
        raise _template_fault(error, f"{source}:{error.lineno}", params, names) from error
    except _TEMPLATE_FAULTS as error:
        raise _template_fault(error, f"{source}:{_line_of(error)}", params, names) from error


def _limited(pieces: Iterator[str], source: str) -> str:
    done: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > RENDERED_LIMIT:
            raise BadInput(
                "the template makes too much text",
                where=source,
                expected=f"at most {RENDERED_LIMIT // 1024} KiB",
                next_step="check its loops",
            )
        done.append(piece)
    return "".join(done)


def _without_marks(marked: str) -> Rendered:
    lines: list[int] = []
    for line in marked.split("\n"):
        mark = _MARK.search(line)
        lines.append(int(mark.group(1)) if mark else (lines[-1] if lines else 1))
    return Rendered(_MARK.sub("", marked), tuple(lines))


def _line_of(error: BaseException) -> int:
    """Return the template line that an evaluation error came from: Jinja2 puts it in the traceback."""
    inside = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return (inside[-1] if inside else None) or 1


def _template_fault(error: Exception, where: str, params: Mapping[str, object], names: str) -> BadInput:
    known = ", ".join(params) or "none"
    return BadInput(f"Jinja2: {error}", where=where, next_step=f"{names}: {known}")
