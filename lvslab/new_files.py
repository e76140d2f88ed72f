"""New files for a person to go on with: all that belong together, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class NewFiles:
    """Writes files and folders that are not there yet, and remembers them."""

    def __init__(self) -> None:
        self._made: list[Path] = []

    def write(self, path: Path, text: str) -> None:
        """Write a file. Raises FileExistsError if there is something already, and any other OSError."""
        with path.open("x", encoding="utf-8") as file:
            self._made.append(path)
            file.write(text)

    def make_folder(self, path: Path) -> None:
        """Make a folder, and those above it, unless it is there. Raises OSError."""
        missing = [each for each in (path, *path.parents) if not each.is_dir()]
        for each in reversed(missing):
            each.mkdir()
            self._made.append(each)

    def remove(self) -> None:
        """Remove what was made, as far as it can be."""
        for path in reversed(self._made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()


@contextmanager
def new_files() -> Iterator[NewFiles]:
    """Give what writes new files; should anything fail meanwhile, they are removed again: a second try is possible."""
    made = NewFiles()
    try:
        yield made
    except BaseException:
        made.remove()
        raise
