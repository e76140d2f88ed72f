"""Bytecode for the guest, which cannot write any itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lvslab.kernels.bytecode import leave_bytecode


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "agent").mkdir()
    for name in ("__init__.py", "agent/__init__.py", "agent/main.py"):
        (tmp_path / name).write_text("ANSWER = 42\n")
    return tmp_path


def compiled(package: Path) -> set[str]:
    return {path.name.split(".")[0] for path in (package / "agent").rglob("*.pyc")}


def test_the_agent_is_compiled(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    leave_bytecode(package)
    assert compiled(package) == {"__init__", "main"}
    assert list((package / "__pycache__").iterdir())


def test_none_is_left_where_python_is_told_so(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    leave_bytecode(package)
    assert compiled(package) == set()


def test_what_cannot_be_compiled_is_the_guests_to_tell(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (package / "agent" / "main.py").write_text("this is no Python\n")
    leave_bytecode(package)
    assert compiled(package) == {"__init__"}
