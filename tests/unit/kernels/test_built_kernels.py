"""The cache of built kernels, and the check of their configuration, without building anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import cache
from lvslab.kernels.build.config import FRAGMENT, check_configuration, lost_options, wanted_options
from lvslab.kernels.build.source import find_source

IPVS_SCHEDULERS = ("RR", "WRR", "LC", "WLC", "FO", "OVF", "LBLC", "LBLCR", "DH", "SH", "MH", "SED", "NQ", "TWOS")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lvslab" / "kernels"


def add(release: str, tmp_path: Path, content: bytes = b"program") -> Path:
    program = tmp_path / "new-program"
    program.write_bytes(content)
    return cache.add_kernel(cache.BuiltKernel(release, "source 1", "aa", "bb", "cc"), program)


def test_an_empty_cache_has_no_kernels(home: Path) -> None:
    assert cache.built_kernels() == ()
    assert cache.current_kernel() is None


def test_kernels_are_listed_by_release_as_numbers(home: Path, tmp_path: Path) -> None:
    for release in ("6.12.117-lvslab", "6.1.192-lvslab", "6.12.9-lvslab"):
        add(release, tmp_path)
    listed = [kernel.release for kernel in cache.built_kernels()]
    assert listed == ["6.1.192-lvslab", "6.12.9-lvslab", "6.12.117-lvslab"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("6.12", "6.12.117-lvslab"),
        ("6.1", "6.1.192-lvslab"),
        ("6.12.117", "6.12.117-lvslab"),
        ("6.12.117-lvslab", "6.12.117-lvslab"),
        ("6", "6.12.117-lvslab"),
    ],
)
def test_a_beginning_of_the_release_finds_the_newest(home: Path, tmp_path: Path, name: str, found: str) -> None:
    add("6.1.192-lvslab", tmp_path)
    add("6.12.117-lvslab", tmp_path)
    assert cache.find_kernel(name).release == found


@pytest.mark.parametrize("name", ["6.2", "6.12.11", "", "5"])
def test_a_release_that_is_not_there_is_refused_with_those_that_are(home: Path, tmp_path: Path, name: str) -> None:
    add("6.12.117-lvslab", tmp_path)
    with pytest.raises(BadInput, match=r"6\.12\.117-lvslab"):
        cache.find_kernel(name)


def test_the_newest_is_current_until_another_is_chosen(home: Path, tmp_path: Path) -> None:
    add("6.1.192-lvslab", tmp_path)
    add("6.12.117-lvslab", tmp_path)
    newest = cache.current_kernel()
    assert newest is not None
    assert newest.release == "6.12.117-lvslab"
    cache.use_kernel("6.1")
    chosen = cache.current_kernel()
    assert chosen is not None
    assert chosen.release == "6.1.192-lvslab"
    cache.remove_kernel("6.1")
    left = cache.current_kernel()
    assert left is not None
    assert left.release == "6.12.117-lvslab"


def test_building_the_same_release_again_replaces_it(home: Path, tmp_path: Path) -> None:
    add("6.12.117-lvslab", tmp_path, b"old")
    program = add("6.12.117-lvslab", tmp_path, b"new")
    assert program.read_bytes() == b"new"
    assert program.stat().st_mode & 0o111
    assert len(cache.built_kernels()) == 1


@pytest.mark.parametrize("record", ["", "not json", "[]", '{"release": "6.12"}'])
def test_a_folder_without_a_whole_record_is_passed_over(home: Path, record: str) -> None:
    folder = home / "6.12"
    folder.mkdir(parents=True)
    (folder / cache.PROGRAM).write_bytes(b"")
    (folder / cache.RECORD).write_text(record)
    assert cache.built_kernels() == ()


def test_our_configuration_has_every_scheduler() -> None:
    options = wanted_options(FRAGMENT.read_text())
    assert {f"CONFIG_IP_VS_{name}=y" for name in IPVS_SCHEDULERS} <= set(options)
    assert len(options) == len(set(options))


def test_a_dropped_option_stops_the_build_and_is_named() -> None:
    fragment = "# comment\nCONFIG_A=y\n\nCONFIG_B=y\n"
    assert lost_options(fragment, "CONFIG_A=y\nCONFIG_B=y\n") == ()
    assert lost_options(fragment, "CONFIG_A=y\n# CONFIG_B is not set\n") == ("CONFIG_B=y",)
    with pytest.raises(CannotRun, match="CONFIG_B=y") as caught:
        check_configuration(fragment, "CONFIG_A=y\n", "linux-source-6.12")
    assert caught.value.exit_status == 3


def test_an_archive_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such archive"):
        find_source(str(tmp_path / "linux.tar.xz"), tmp_path)
