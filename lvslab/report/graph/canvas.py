"""A grid of characters to draw on."""

from __future__ import annotations

from rich.cells import cell_len

_JOINED_BELOW = {"─": "┬", "┴": "┼", "═": "╤", "╧": "╪"}
_JOINED_ABOVE = {"─": "┴", "┬": "┼", "═": "╧", "╤": "╪"}


class Canvas:
    def __init__(self, width: int, height: int) -> None:
        self._rows = [[" "] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str) -> None:
        """Write text over what is there; a wide character (East Asian Width) takes two places."""
        for character in text:
            width = cell_len(character)
            self._rows[y][x : x + width] = [character, *[""] * (width - 1)]
            x += width

    def join(self, x: int, y: int, *, below: bool) -> None:
        """Let the horizontal line at this place meet a wire that goes down from it, or up."""
        joined = _JOINED_BELOW if below else _JOINED_ABOVE
        self._rows[y][x] = joined[self._rows[y][x]]

    def lines(self) -> tuple[str, ...]:
        return tuple("".join(row).rstrip() for row in self._rows)
