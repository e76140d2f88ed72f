"""Which User-Mode Linux kernels are found, and which of them is meant."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import cache, images, probe
from lvslab.kernels.images import Origin, UmlImage, find_image, need_image, use_image


@pytest.fixture(autouse=True)
def nothing_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(images, "PROGRAMS", ("linux-of-a-test", "linux2-of-a-test"))
    monkeypatch.setattr(images, "MODULE_FOLDER", tmp_path / "modules")
    monkeypatch.setattr(images, "PYTHON_PACKAGE", "lvslab_kernel_of_a_test")


def program(path: Path, content: bytes = b"\x7fELF umid= uml_dir=") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def build(tmp_path: Path, release: str) -> None:
    program(tmp_path / "made" / "linux")
    cache.add_kernel(cache.BuiltKernel(release, "source 1", "", "", "", ("rr", "twos")), tmp_path / "made")


def install(tmp_path: Path, *releases: str) -> None:
    """Put a kernel into PATH, with modules of those releases."""
    program(tmp_path / "bin" / "linux-of-a-test")
    for release in releases:
        folder = tmp_path / "modules" / release / images.IPVS_MODULES
        folder.mkdir(parents=True)
        for name in ("ip_vs.ko", "ip_vs_wrr.ko", "ip_vs_rr.ko.xz", "ip_vs_ftp.ko", "ip_vs_pe_sip.ko"):
            (folder / name).touch()


def install_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str) -> Path:
    """Make a Python package that holds a kernel; importing it would fail."""
    build(tmp_path, release)
    folder = tmp_path / "site" / images.PYTHON_PACKAGE
    folder.parent.mkdir()
    (cache.kernels_home() / release).rename(folder)
    (folder / "__init__.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return folder


def test_nothing_is_found_where_nothing_is() -> None:
    assert images.images() == ()
    assert find_image() is None
    assert find_image("6.1") is None
    with pytest.raises(CannotRun, match="there is no User-Mode Linux kernel; build one: lvslab kernel build"):
        need_image()


def test_each_kind_is_found_the_preferred_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "6.1.99", "6.1.176")
    folder = install_package(tmp_path, monkeypatch, "6.18.2")
    build(tmp_path, "6.12.117")
    build(tmp_path, "6.6.1")
    home = cache.kernels_home()
    assert images.images() == (
        UmlImage(tmp_path / "bin/linux-of-a-test", tmp_path / "modules", "6.1.176", ("rr", "wrr"), Origin.INSTALLED),
        UmlImage(folder / "linux", folder / "modules", "6.18.2", ("rr", "twos"), Origin.PACKAGE),
        UmlImage(home / "6.6.1/linux", home / "6.6.1/modules", "6.6.1", ("rr", "twos"), Origin.BUILT),
        UmlImage(home / "6.12.117/linux", home / "6.12.117/modules", "6.12.117", ("rr", "twos"), Origin.BUILT),
    )
    assert images.PYTHON_PACKAGE not in sys.modules


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("", "6.12.117"),
        ("6.1", "6.1.176"),
        ("6.1.176", "6.1.176"),
        ("6.12", "6.12.117"),
        ("6", "6.18.2"),
        ("6.12.11", None),
        ("7", None),
    ],
)
def test_which_one_a_name_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, release: str | None
) -> None:
    install(tmp_path, "6.1.176")
    install_package(tmp_path, monkeypatch, "6.18.2")
    build(tmp_path, "6.6.1")
    build(tmp_path, "6.12.117")
    found = find_image(name)
    assert (found and found.release) == release
    if release is None:
        with pytest.raises(BadInput, match=r"one of uml:6\.1\.176, uml:6\.18\.2, uml:6\.6\.1, uml:6\.12\.117, found"):
            need_image(name)


def test_the_users_choice_counts_while_it_is_there(tmp_path: Path) -> None:
    install(tmp_path, "6.1.176")
    build(tmp_path, "6.12.117")
    assert use_image("6.1").release == "6.1.176"
    assert need_image().release == "6.1.176"
    build(tmp_path, "6.6.1")
    assert use_image("6.6").release == "6.6.1"
    assert need_image().release == "6.6.1"
    cache.remove_kernel("6.6.1")
    assert need_image().release == "6.12.117"


def test_of_two_of_one_release_the_one_built_here_is_meant(tmp_path: Path) -> None:
    install(tmp_path, "6.12.117")
    build(tmp_path, "6.12.117")
    assert need_image("6.12").origin is Origin.BUILT
    use_image("6.12")
    assert need_image().origin is Origin.BUILT


def test_another_program_called_linux_is_no_kernel(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "linux-of-a-test", b"#!/bin/sh\n")
    real = program(tmp_path / "bin" / "linux2-of-a-test")
    assert images.images() == (UmlImage(real, None, ""),)


def test_a_python_package_without_a_whole_kernel_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install_package(tmp_path, monkeypatch, "6.18.2")
    (folder / "linux").chmod(0o644)
    assert images.images() == ()


def doctor_says() -> dict[str, probe.Finding]:
    return {finding.name: finding for finding in probe.examine_machine()}


def test_doctor_lists_every_image_with_its_schedulers(tmp_path: Path) -> None:
    install(tmp_path, "6.1.176")
    build(tmp_path, "6.12.117")
    said = doctor_says()
    assert said["uml:6.1.176 schedulers"].found == "rr wrr"
    assert said["uml:6.12.117 schedulers"].found == "rr twos"
    assert said["uml:6.12.117"].found.startswith("built, ")
    assert "uml of your own" not in said


def test_doctor_advises_to_build_where_there_is_only_an_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "6.1.176")
    assert "lvslab kernel build" in doctor_says()["uml of your own"].cure
    (tmp_path / "bin" / "linux-of-a-test").unlink()
    assert "lvslab kernel build" in doctor_says()["uml"].cure


def test_doctor_says_which_release_a_lab_runs_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "6.1.176")
    build(tmp_path, "6.12.117")
    for name, expected in {"uml": "uml 6.12.117", "uml:6.1": "uml 6.1.176"}.items():
        monkeypatch.setenv("LVSLAB_KERNEL", name)
        assert probe.chosen_kernel() == probe.Finding("kernel to use", ok=True, found=expected)
    monkeypatch.setenv("LVSLAB_KERNEL", "uml:9")
    assert not probe.chosen_kernel().ok
