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


HOST_PROCESS = """
import pkgutil, sys
sys.modules["mininet"] = None
import lvslab
for module in pkgutil.walk_packages(lvslab.__path__, "lvslab."):
    if module.name not in sys.argv[1:]:
        __import__(module.name)
print(len(sys.modules))
"""
WITH_MININET = ("lvslab.mininet.server", "lvslab.mininet.topo_reader", "lvslab.bench.guest.mininet_network")
"""Programs, started by their path and by the Python that has Mininet."""


def test_the_python_that_runs_lvslab_need_not_have_mininet() -> None:
    """Debian's module is for the system's Python, and what needs it runs by that one."""
    argv = [sys.executable, "-c", HOST_PROCESS, *WITH_MININET]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_topo_that_is_not_there_is_a_mistake_with_and_without_mininet(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["mininet"] = None
from lvslab.cli.main import main
main(["import", "nix.py:X", "--vip", "10.0.0.9"])
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("lvslab: nix.py: there is no such file")
