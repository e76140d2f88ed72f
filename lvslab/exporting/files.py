"""The files of an export, as values, and how they get into a folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lvslab.errors import BadInput
from lvslab.new_files import NewFiles, new_files
from lvslab.topology.yaml_writer import yaml_text


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """`path` is relative to the export's folder."""

    path: str
    text: str


def commented_yaml(document: dict[str, Any], *heading: str) -> str:
    """Return a document as YAML, below a comment."""
    return "".join(f"# {line}\n" for line in heading) + "\n" + yaml_text(document, any_version=True)


def write_files(folder: Path, files: Iterable[ExportedFile]) -> tuple[Path, ...]:
    """Write all files, or none, into a folder that is empty or not there yet; return their paths. Raises BadInput."""
    try:
        if not folder.is_dir() and (folder.is_symlink() or folder.exists()):
            found = "a link to nothing" if folder.is_symlink() and not folder.exists() else "a file"
            raise BadInput("not a folder", where=str(folder), found=found, next_step="choose another name")
        if folder.is_dir() and any(folder.iterdir()):
            raise BadInput(
                "there is something already", where=str(folder), next_step="choose another folder, or empty it"
            )
        with new_files() as made:
            made.make_folder(folder)
            return tuple(_write(made, folder, file) for file in files)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", where=str(error.filename or folder)) from error


def _write(made: NewFiles, folder: Path, file: ExportedFile) -> Path:
    path = folder / file.path
    made.make_folder(path.parent)
    made.write(path, file.text)
    return path
