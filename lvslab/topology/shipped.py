"""The topologies that come with lvslab, and finding a topology by name or path."""

from __future__ import annotations

from pathlib import Path

from lvslab.errors import BadInput
from lvslab.topology.wording import did_you_mean, one_of

_SUFFIXES = (".yaml.j2", ".yaml")


def _folder() -> Path:
    """Return where the shipped topologies are: inside an installed package, else beside it in the source tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "shipped" / "topologies"
    return installed if installed.is_dir() else package.parent / "topologies"


def _files() -> dict[str, Path]:
    files = {}
    for path in _folder().iterdir():
        for suffix in _SUFFIXES:
            if path.name.endswith(suffix):
                files[path.name.removesuffix(suffix)] = path
                break
    return dict(sorted(files.items()))


def shipped() -> tuple[str, ...]:
    """Return the names of the shipped topologies, sorted."""
    return tuple(_files())


def find(name_or_path: str | Path) -> Path:
    """Return the file of a shipped topology, or the path itself if it has a slash or a suffix, or exists.

    Raises :class:`~lvslab.errors.BadInput` for a bare name that is neither.
    """
    files = _files()
    if isinstance(name_or_path, str) and name_or_path in files:
        return files[name_or_path]
    path = Path(name_or_path)
    text = str(name_or_path)
    if "/" in text or path.suffix or path.is_file():
        return path
    raise BadInput(
        f"unknown topology {text!r}",
        expected=f"{one_of(files)}, or a path",
        next_step=did_you_mean(text, files),
    )
