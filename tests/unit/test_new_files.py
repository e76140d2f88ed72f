"""Files that belong together are there as a whole or not at all, so that a second try is possible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lvslab.authoring.begin import begin_topology
from lvslab.authoring.choices import Choices, Forwarding
from lvslab.errors import BadInput
from lvslab.exporting.compose import compose_files
from lvslab.exporting.files import write_files
from lvslab.labs.scaffold import new_lab
from lvslab.new_files import NewFiles, new_files
from lvslab.topology import load_topology
from lvslab.topology.model import Protocol

MINE = Choices("mine", Forwarding.DR, "4", Protocol.TCP, "rr", 2)
MAKERS: dict[str, tuple[Callable[[Path], object], int]] = {
    "new topology": (lambda folder: begin_topology(folder / "mine.yaml", MINE), 1),
    "export": (lambda folder: write_files(folder / "deep" / "dr", compose_files(load_topology("dr"), "lvslab")), 4),
    "lab new": (lambda folder: new_lab(folder / "deep" / "mine"), 4),
}


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ended"])
@pytest.mark.parametrize("name", MAKERS)
def test_nothing_stays_of_what_could_not_be_finished(
    name: str, fault: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system with room for all files but the last one's text."""
    make, last = MAKERS[name]
    write, written = NewFiles.write, list[Path]()

    def write_until_full(made: NewFiles, path: Path, text: str) -> None:
        written.append(path)
        write(made, path, text if len(written) < last else text[:10])
        if len(written) == last:
            raise fault

    with monkeypatch.context() as patched:
        patched.setattr(NewFiles, "write", write_until_full)
        with pytest.raises((BadInput, KeyboardInterrupt), match=r"No space left on device|^$"):
            make(tmp_path)
    assert len(written) == last
    assert list(tmp_path.iterdir()) == []
    make(tmp_path)
    assert all(path.stat().st_size for path in written)


def test_what_was_there_stays_when_the_rest_is_removed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(FileExistsError), new_files() as made:
        made.make_folder(tmp_path)
        made.write(tmp_path / "new", "new")
        made.write(tmp_path / "mine", "not mine")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("mine", "mine")]
