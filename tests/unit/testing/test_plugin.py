"""What the plugin costs projects that do not use it, and how files of failed tests are called."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from lvslab.errors import BadInput, CannotRun, KernelFault
from lvslab.testing import pool
from lvslab.testing.failure import file_name
from lvslab.testing.marker import KernelOrder, Order

HEAVY = ("pyroute2", "scapy", "rich", "jinja2", "pydantic", "ruamel.yaml", "lvslab.lab", "lvslab.topology")
HERE, THERE = Path("a.py"), Path("b.py")
ON = KernelOrder(None, False, 512)


def test_nothing_heavy_is_imported_until_a_test_wants_a_cluster() -> None:
    script = f"import sys, lvslab.testing.plugin; sys.exit(' '.join(n for n in {HEAVY} if n in sys.modules) or 0)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_names_of_files_are_readable_and_differ() -> None:
    ids = ["tests/test_dr.py::test_x[dr-1]", "tests/test_dr.py::test_x[dr/1]", "t/" + "x" * 300, "u/" + "x" * 300]
    names = [file_name(each) for each in ids]
    assert names[0].startswith("tests-test_dr.py-test_x-dr-1-")
    assert len(set(names)) == len(ids)
    assert all(len(name) < 120 and "/" not in name for name in names)


class Record:
    """Stands for kernels and clusters: what was begun and ended, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[str] = []
        self.broken = False
        monkeypatch.setattr(pool, "open_kernel", self.open_kernel)
        monkeypatch.setattr(pool, "running_lab", self.running_lab)

    @contextmanager
    def open_kernel(self, kind: str | None, **_options: Any) -> Iterator[Mock]:
        self.events.append("boot")
        yield Mock()
        self.events.append("end")

    @contextmanager
    def running_lab(self, _kernel: Any, topology: Any, **_options: Any) -> Iterator[object]:
        self.events.append(f"build {topology.name}")
        if self.broken:
            raise KernelFault("broken")
        yield object()
        self.events.append("remove")


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Record:
    return Record(monkeypatch)


def test_one_kernel_is_booted_and_one_cluster_built_for_a_module(record: Record) -> None:
    with pool.Pool() as kernels:
        first = kernels.lab(Order("dr", ON), module=HERE)
        assert kernels.lab(Order("dr", ON), module=HERE) is first
    assert record.events == ["boot", "build dr", "remove", "end"]


@pytest.mark.parametrize(
    ("order", "module"),
    [(Order("dr", ON), THERE), (Order("dr", ON, without=("arp_ignore",)), HERE), (Order("dr", ON, fresh=True), HERE)],
    ids=["another-module", "another-cluster", "fresh"],
)
def test_another_cluster_takes_the_place_of_the_first(record: Record, order: Order, module: Path) -> None:
    with pool.Pool() as kernels:
        kernels.lab(Order("dr", ON), module=HERE)
        kernels.lab(order, module=module)
    assert record.events == ["boot", "build dr", "remove", "build dr", "remove", "end"]


def test_another_kernel_is_booted_beside_the_first(record: Record) -> None:
    with pool.Pool() as kernels:
        kernels.lab(Order("dr", ON), module=HERE)
        kernels.lab(Order("dr", KernelOrder(None, True, 512)), module=HERE)
    assert record.events.count("boot") == record.events.count("end") == 2


def test_a_kernel_that_failed_is_not_used_again(record: Record) -> None:
    order = Order("dr", ON)
    with pool.Pool() as kernels:
        kernels.lab(order, module=HERE)
        kernels.drop_kernel(order)
        record.broken = True
        with pytest.raises(KernelFault):
            kernels.lab(order, module=HERE)
        record.broken = False
        kernels.lab(order, module=HERE)
    assert record.events.count("boot") == record.events.count("end") == 3


@pytest.mark.parametrize("environment", [False, True])
def test_a_kernel_of_another_release_is_skipped_whoever_names_it(
    monkeypatch: pytest.MonkeyPatch, environment: bool
) -> None:
    monkeypatch.setenv("LVSLAB_KERNEL", "uml:0.1" if environment else "")
    kernel = None if environment else "uml:0.1"
    with pool.Pool() as kernels, pytest.raises(CannotRun, match=r"uml:0\.1: this kernel is not here"):
        kernels.lab(Order("dr", KernelOrder(kernel, False, 512)), module=HERE)


def test_what_is_no_kernel_s_name_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LVSLAB_KERNEL", "bogus")
    with pool.Pool() as kernels, pytest.raises(BadInput, match=r"LVSLAB_KERNEL: unknown kernel: .* found bogus"):
        kernels.lab(Order("dr", ON), module=HERE)


CONFTEST = """
from unittest.mock import Mock
import pytest
from lvslab.lab import Lab
from lvslab.topology import load_topology

@pytest.fixture(scope="session")
def _lvs_pool():
    kernel = Mock(kind="uml", release="0")
    return Mock(lab=lambda order, module: Lab(order.load(), kernel, Mock(backend="netns")), drop_kernel=_never)

def _never(_order):
    raise AssertionError("the kernel is not to blame")
"""
MISTAKES = {
    "lvs_lab.walk('clint', 'http://vip/')": "did you mean 'client'?",
    "lvs_lab.walk('client', 5)": "not a URL: expected .* found 5",
    "lvs_lab.node('rs3')": "did you mean 'rs2'?|did you mean 'rs1'?",
    **{
        f"lvs_lab.schedule({count})": "schedule: not a number of connections: expected 1 or more, found "
        for count in ("0", "-1", "float('nan')", "'x'", "True", "2.0")
    },
}


def test_a_mistake_in_the_middle_of_a_test_is_an_error_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    bodies = [f"\n\ndef test_{number}(lvs_lab):\n    {body}\n" for number, body in enumerate(MISTAKES)]
    header = "import pytest\npytestmark = pytest.mark.lvs(topology='dr')\n"
    (tmp_path / "test_mistakes.py").write_text(header + "".join(bodies))
    argv = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "--tb=short", "test_mistakes.py"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert f"{len(MISTAKES)} errors" in done.stdout, done.stdout
    assert "failed" not in done.stdout.splitlines()[-1]
    for number, said in enumerate(MISTAKES.values()):
        assert re.search(rf"^test_mistakes\.py:{number * 4 + 6}: .*({said})", done.stdout, re.MULTILINE), done.stdout
