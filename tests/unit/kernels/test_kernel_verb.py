"""`lvslab kernel list | use | remove | wheel`."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lvslab.cli.main import main
from lvslab.errors import CannotRun
from lvslab.kernels import cache, images
from lvslab.kernels.build.wheel import make_wheel

WHEEL = "lvslab_kernel-6.12.117-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl"


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(images, "PROGRAMS", ())
    monkeypatch.setattr(images, "PYTHON_PACKAGE", "lvslab_kernel_of_a_test")


def build(tmp_path: Path, release: str = "6.12.117-lvslab", source: str = "linux-source-6.12 6.12.117-1") -> Path:
    made = tmp_path / "made"
    (made / cache.MODULES / release).mkdir(parents=True, exist_ok=True)
    (made / cache.MODULES / release / "modules.builtin").write_text("kernel/a.ko\n")
    (made / cache.PROGRAM).write_bytes(b"\x7fELF")
    (made / cache.PROGRAM).chmod(0o755)
    (made / cache.CONFIG).write_text("CONFIG_A=y\n")
    program = cache.add_kernel(cache.BuiltKernel(release, source, "aa", "bb", "cc", ("rr",)), made)
    shutil.rmtree(made)
    return program


def kernel(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run `lvslab kernel …`; return its status and what it said."""
    with pytest.raises(SystemExit) as caught:
        main(["kernel", *words])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return int(caught.value.code or 0), captured.out + captured.err


def test_list_marks_the_one_that_uml_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kernel(capsys, "list") == (0, f"none; {images.INSTALL_HINT}\n")
    build(tmp_path, "6.6.1")
    program = build(tmp_path)
    status, said = kernel(capsys, "list")
    assert status == 0
    assert [line.split()[:2] for line in said.splitlines()] == [["6.6.1", "built"], ["*", "6.12.117-lvslab"]]
    assert said.endswith(f" built          {program}\n")


def test_list_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = build(tmp_path)
    status, said = kernel(capsys, "list", "--json", "-")
    assert status == 0
    assert json.loads(said) == [
        {
            "program": str(program),
            "modules": str(program.parent / "modules"),
            "release": "6.12.117-lvslab",
            "schedulers": ["rr"],
            "origin": "built",
            "chosen": True,
        }
    ]


def test_use_then_remove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, "6.6.1")
    build(tmp_path)
    assert kernel(capsys, "use", "6.6") == (0, "uml is now 6.6.1\n")
    assert kernel(capsys, "list")[1].startswith("* 6.6.1")
    assert kernel(capsys, "use", "")[0] == 2
    assert kernel(capsys, "remove", "6.6")[0] == 2
    assert kernel(capsys, "remove", "6.6.1") == (0, "removed 6.6.1\n")
    assert kernel(capsys, "list")[1].startswith("* 6.12.117-lvslab")


@pytest.mark.parametrize("verb", ["use", "remove", "wheel"])
def test_a_kernel_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    build(tmp_path)
    status, said = kernel(capsys, verb, "5.4")
    assert status == 2
    assert said.startswith("lvslab: 5.4: no such kernel: expected one of")
    assert "6.12.117-lvslab" in said
    assert said.count("\n") == 1


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_kernel_and_the_offer_of_its_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build(tmp_path).parent
    status, said = kernel(capsys, "wheel", "6.12", "-o", str(tmp_path / "out"))
    assert (status, said) == (0, f"{tmp_path / 'out' / WHEEL}\n")
    held = members(tmp_path / "out" / WHEEL)
    for name in (cache.PROGRAM, cache.CONFIG, cache.RECORD, "modules/6.12.117-lvslab/modules.builtin"):
        assert held[f"lvslab_kernel/{name}"] == (folder / name).read_bytes()
    metadata = held["lvslab_kernel-6.12.117.dist-info/METADATA"].decode()
    assert "\nName: lvslab-kernel\nVersion: 6.12.117\n" in metadata
    offer = held["lvslab_kernel/README.md"].decode()
    assert metadata.endswith(offer)
    assert "linux-source-6.12 6.12.117-1, with Debian's patches" in offer
    assert "<https://snapshot.debian.org/binary/linux-source-6.12/>" in offer


def test_the_wheels_record_is_right(tmp_path: Path) -> None:
    build(tmp_path)
    held = members(make_wheel(cache.find_kernel("6"), tmp_path))
    record = list(csv.reader(io.StringIO(held["lvslab_kernel-6.12.117.dist-info/RECORD"].decode())))
    assert [row[0] for row in record] == list(held)
    for name, digest, size in record[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(held[name]).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={expected}", str(len(held[name])))
    assert record[-1][1:] == ["", ""]


def test_the_same_kernel_gives_the_same_wheel(tmp_path: Path) -> None:
    build(tmp_path)
    made = [make_wheel(cache.find_kernel("6"), tmp_path / name).read_bytes() for name in ("a", "b")]
    assert made[0] == made[1]


def test_pip_installs_the_wheel_with_its_program_executable(tmp_path: Path) -> None:
    build(tmp_path)
    wheel = make_wheel(cache.find_kernel("6"), tmp_path)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-cache-dir"]
    subprocess.run([*pip, "--target", tmp_path / "site", wheel], check=True, capture_output=True)
    installed = cache.read_kernel(tmp_path / "site" / "lvslab_kernel")
    assert installed == cache.find_kernel("6")


def test_a_wheel_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    build(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CannotRun, match="cannot write the wheel"):
        make_wheel(cache.find_kernel("6"), tmp_path / "file")
    build(tmp_path, "lvslab")
    with pytest.raises(CannotRun, match="no version for a wheel"):
        make_wheel(cache.find_kernel("lvslab"), tmp_path)
    assert list(tmp_path.glob("*.whl")) == list(tmp_path.glob("*.part")) == []
