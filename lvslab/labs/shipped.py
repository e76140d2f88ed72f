"""The labs that come with lvslab, and finding a lab by number, name or path."""

from __future__ import annotations

from pathlib import Path

from lvslab.errors import BadInput
from lvslab.topology.wording import did_you_mean, one_of

DOCUMENT = "lab.yaml"


def shipped_folder() -> Path:
    """Return where the shipped labs are: inside an installed package, else beside it in the source tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "shipped" / "labs"
    return installed if installed.is_dir() else package.parent / "labs"


def shipped_labs() -> tuple[Path, ...]:
    """Return the folders of the shipped labs, in order."""
    folder = shipped_folder()
    return tuple(sorted(path.parent for path in folder.glob(f"*/{DOCUMENT}"))) if folder.is_dir() else ()


def find_lab_folder(wanted: str) -> Path:
    """Return the folder of a lab: `3`, `03`, `03-dr` and `dr` mean the shipped one, what has a slash is a path.

    Raises BadInput.
    """
    if "/" in wanted or wanted in (".", ".."):
        path = Path(wanted).resolve()
        if not (path / DOCUMENT).is_file():
            raise BadInput("no lab is here", where=wanted, expected=f"a folder with {DOCUMENT}")
        return path
    folders = shipped_labs()
    for folder in folders:
        number, _, name = folder.name.partition("-")
        if wanted in (folder.name, name, number, number.lstrip("0")):
            return folder
    names = [folder.name for folder in folders]
    raise BadInput(
        f"unknown lab {wanted!r}", expected=f"{one_of(names)}, or a path", next_step=did_you_mean(wanted, names)
    )
