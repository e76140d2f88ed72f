"""Beginning a lab of one's own: a small one that passes its own proof, to be changed step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lvslab.errors import BadInput
from lvslab.new_files import NewFiles, new_files

TEMPLATE = Path(__file__).with_name("template")
_NAME = re.compile(r"(?:\d\d-)?[a-z][a-z0-9-]{0,40}")
_PLACE = "@NAME@"


def new_lab(folder: Path) -> tuple[Path, ...]:
    """Write a lab into a new folder; return its files. Raises BadInput."""
    if not _NAME.fullmatch(folder.name):
        raise BadInput(
            "no name for a lab",
            where=str(folder),
            expected="small letters, digits and hyphens, perhaps after two digits: 13-mine",
            found=repr(folder.name),
        )
    if folder.is_symlink() or folder.exists():
        raise BadInput("there is something already", where=str(folder), next_step="choose another name")
    try:
        with new_files() as made:
            return tuple(_written(made, folder))
    except OSError as error:
        raise BadInput(f"cannot be made: {error.strerror}", where=str(folder)) from error


def _written(made: NewFiles, folder: Path) -> Iterator[Path]:
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        target = folder / source.relative_to(TEMPLATE)
        made.make_folder(target.parent)
        made.write(target, source.read_text(encoding="utf-8").replace(_PLACE, folder.name))
        yield target
