"""A list of numbers as an option's value."""

from __future__ import annotations

import click


class Sizes(click.ParamType[tuple[int, ...]]):
    """Numbers from 1 to `most`, as 4,16,64; each once, in order."""

    name = "sizes"

    def __init__(self, most: int) -> None:
        self._most = most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        texts = str(value).split(",")
        if not all(text.isdecimal() and 1 <= int(text) <= self._most for text in texts):
            self.fail(f"{value!r}: expected numbers from 1 to {self._most}, for example 4,16,64", param, ctx)
        return tuple(sorted(set(map(int, texts))))
