"""Which Mininet is used, and what is said where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lvslab.errors import BadInput, CannotRun
from lvslab.mininet import install
from lvslab.sandbox.backends import need_backend


def test_lvslabs_own_python_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_spec", lambda _name: object())
    monkeypatch.setattr(install, "_version", lambda _python: "2.3.0")
    assert install.need_mininet() == install.Installation(sys.executable, "2.3.0")


def test_the_systems_python_has_debians_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_spec", lambda _name: None)
    found = install.need_mininet()
    assert found.python == install.SYSTEM_PYTHON
    assert found.version.startswith("2.")


def test_a_python_without_mininet_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "find_spec", lambda _name: None)
    monkeypatch.setattr(install, "SYSTEM_PYTHON", "/bin/false")
    with pytest.raises(CannotRun, match="no Python that can import it; apt-get install"):
        install.need_mininet()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install, "SEARCH_PATH", str(tmp_path))
    with pytest.raises(CannotRun, match="no mnexec and no ifconfig"):
        need_backend("mininet")


def test_another_backend_is_refused() -> None:
    with pytest.raises(BadInput, match="expected netns or mininet or mininet:ovs, found docker"):
        need_backend("docker")


def test_the_python_that_runs_lvslab_need_not_have_mininet() -> None:
    """Debian's module is for the system's Python, and the network is built by that one."""
    hidden = "import sys; sys.modules['mininet'] = None; import lvslab.sandbox.backends.mininet, lvslab.cli.mininet"
    done = subprocess.run([sys.executable, "-c", hidden], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
