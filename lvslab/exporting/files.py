"""The files of an export, as values, and how they get into a folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lvslab.errors import BadInput
from lvslab.topology.yaml_writer import yaml_text


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """`path` is relative to the export's folder."""

    path: str
    text: str


def commented_yaml(document: dict[str, Any], *heading: str) -> str:
    """Return a document as YAML, below a comment."""
    return "".join(f"# {line}\n" for line in heading) + "\n" + yaml_text(document)


def write_files(folder: Path, files: Iterable[ExportedFile]) -> tuple[Path, ...]:
    """Write files into a folder that is empty or not there yet; return their paths. Raises BadInput."""
    try:
        if not folder.is_dir() and (folder.is_symlink() or folder.exists()):
            found = "a link to nothing" if folder.is_symlink() and not folder.exists() else "a file"
            raise BadInput("not a folder", where=str(folder), found=found, next_step="choose another name")
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(
                "there is something already", where=str(folder), next_step="choose another folder, or empty it"
            )
        return tuple(_write(folder, file) for file in files)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", where=str(error.filename or folder)) from error


def _write(folder: Path, file: ExportedFile) -> Path:
    path = folder / file.path
    path.parent.mkdir(exist_ok=True)
    path.write_text(file.text, encoding="utf-8")
    return path
