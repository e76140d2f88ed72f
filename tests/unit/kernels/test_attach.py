"""Records of labs that stay: what they say, who may write one, and what is no record."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lvslab.errors import BadInput, CannotRun, KernelFault
from lvslab.kernels.attach import (
    RECORD,
    LabRecord,
    NodeRecord,
    ServiceRecord,
    claim,
    connect,
    find_lab,
    find_lab_to_stop,
    labs,
    read_record,
    refuse_second,
    running_labs,
    stop,
)
from lvslab.kernels.folder import SOCKET, LabFolder, make_lab_folder


@pytest.fixture
def lab(home: Path) -> Iterator[LabFolder]:
    """A lab's folder whose lock is held, as if its broker lived."""
    folder = make_lab_folder("lab")
    yield folder
    os.close(folder.lock)


def record_of(folder: LabFolder, name: str = "dr") -> LabRecord:
    node = NodeRecord("client", "client", ("203.0.113.10",))
    service = ServiceRecord("198.18.0.10", 80, "tcp")
    return LabRecord(name, str(folder.path), "uml", "6.1", "dr", "name: dr\n", "dr", (node,), (service,), 1.5)


def open_door(folder: LabFolder) -> None:
    (folder.path / SOCKET).touch()


def test_a_record_is_read_as_it_was_written(lab: LabFolder) -> None:
    record = record_of(lab)
    claim(record)
    assert read_record(lab.path) == record
    assert running_labs() == ()  # its maker has not let go of it yet
    assert labs() == (record,)
    with pytest.raises(BadInput, match=r"dr: the lab is not up yet; wait"):
        find_lab()
    assert find_lab_to_stop() == find_lab_to_stop("dr") == record
    open_door(lab)
    assert running_labs() == (record,)
    assert find_lab() == find_lab("dr") == record


def test_a_name_is_given_once(lab: LabFolder) -> None:
    claim(record_of(lab))
    with pytest.raises(BadInput, match="is up already"):
        refuse_second("dr")
    with pytest.raises(BadInput, match="is up already"):
        claim(record_of(lab))
    refuse_second("another")


@pytest.mark.parametrize("name", ["", ".", "../x", "a b", "a\nb", "-x", "é", "x" * 64])
def test_what_is_no_name(home: Path, name: str) -> None:
    with pytest.raises(BadInput, match="no name"):
        refuse_second(name)


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5},
        {"name": None},
        {"begun": "yesterday"},
        {"nodes": "client"},
        {"nodes": ["client"]},
        {"nodes": [{"name": "client", "role": "client", "addresses": "203.0.113.10"}]},
        {"services": [{"vip": "198.18.0.10"}]},
        {"services": 7},
    ],
)
def test_a_record_that_makes_no_sense_is_none(lab: LabFolder, change: dict[str, object]) -> None:
    facts = asdict(record_of(lab))
    (lab.path / RECORD).write_text(json.dumps(facts))
    assert read_record(lab.path) is not None
    (lab.path / RECORD).write_text(json.dumps(facts | change))
    assert read_record(lab.path) is None


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '"x"', "\0"])
def test_a_file_that_is_no_record(lab: LabFolder, text: str) -> None:
    (lab.path / RECORD).write_text(text)
    assert read_record(lab.path) is None


def test_a_record_cannot_name_another_folder(lab: LabFolder) -> None:
    claim(replace(record_of(lab), folder=str(lab.path)))
    facts = json.loads((lab.path / RECORD).read_text()) | {"folder": "/etc"}
    (lab.path / RECORD).write_text(json.dumps(facts))
    found = read_record(lab.path)
    assert found is not None
    assert found.path == lab.path


def test_a_lab_that_is_coming_up_does_not_hide_the_one_that_is_up(home: Path) -> None:
    folders = [make_lab_folder("lab") for _ in range(2)]
    for name, folder in zip(("old", "new"), folders, strict=True):
        claim(record_of(folder, name))
    open_door(folders[0])
    assert find_lab().name == "old"
    with pytest.raises(BadInput, match="several labs are up"):
        find_lab_to_stop()
    for folder in folders:
        os.close(folder.lock)


def test_a_record_that_cannot_be_written_is_told(lab: LabFolder) -> None:
    (lab.path / f"{RECORD}.new").mkdir()
    with pytest.raises(CannotRun, match=r"record cannot be written.*set LVSLAB_HOME"):
        claim(record_of(lab))


def test_a_dead_lab_is_not_up_and_can_be_stopped(lab: LabFolder) -> None:
    record = record_of(lab)
    claim(record)
    open_door(lab)
    fcntl.flock(lab.lock, fcntl.LOCK_UN)
    assert running_labs() == ()
    with pytest.raises(KernelFault, match="does not answer"):
        connect(record)
    stop(record)
    assert not lab.path.exists()


def test_which_lab_is_meant(home: Path) -> None:
    with pytest.raises(BadInput, match="no lab is up"):
        find_lab()
    folders = [make_lab_folder("lab") for _ in range(2)]
    for name, folder in zip(("one", "two"), folders, strict=True):
        claim(record_of(folder, name))
        open_door(folder)
    with pytest.raises(BadInput, match=r"several labs are up.*one, two"):
        find_lab()
    assert find_lab("two").name == "two"
    with pytest.raises(BadInput, match="no such lab is up"):
        find_lab("three")
    for folder in folders:
        os.close(folder.lock)
