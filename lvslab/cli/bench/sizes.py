"""A list of numbers as an option's value."""

from __future__ import annotations

import click

from lvslab.topology.limits import Range
from lvslab.topology.wording import shown


class Sizes(click.ParamType[tuple[int, ...]]):
    """Numbers from 1 to `most`, as 4,16,64; each once, in order."""

    name = "sizes"

    def __init__(self, most: int) -> None:
        self._most = most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        allowed = Range(1, self._most)
        numbers = [allowed.read(text) for text in str(value).split(",")]
        if None in numbers:
            self.fail(f"{shown(str(value))}: expected numbers from {allowed}, for example 4,16,64", param, ctx)
        return tuple(sorted({number for number in numbers if number is not None}))
