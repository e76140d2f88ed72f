"""A lab of a test's own, made by `lvslab lab new`, to be broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.labs.scaffold import new_lab


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a small correct lab."""
    path = tmp_path / "13-mine"
    new_lab(path)
    return path


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Progress is kept in the test's own folder."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home
