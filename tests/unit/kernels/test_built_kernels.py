"""The cache of built kernels, and the check of their configuration, without building anything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import cache
from lvslab.kernels.build.config import (
    FRAGMENT,
    built_in_schedulers,
    check_configuration,
    lost_options,
    wanted_options,
)
from lvslab.kernels.build.source import find_source
from lvslab.topology.limits import SCHEDULERS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lvslab" / "kernels"


def add(release: str, tmp_path: Path, content: bytes = b"program") -> Path:
    made = tmp_path / "made"
    made.mkdir(exist_ok=True)
    (made / cache.PROGRAM).write_bytes(content)
    (made / cache.PROGRAM).chmod(0o755)
    (made / cache.CONFIG).write_text("CONFIG_A=y\n")
    return cache.add_kernel(cache.BuiltKernel(release, "source 1", "aa", "bb", "cc", ("rr", "wrr")), made)


def test_an_empty_cache_has_no_kernels(home: Path) -> None:
    assert cache.built_kernels() == ()
    assert cache.chosen_release() == ""


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
    (folder / cache.PROGRAM).chmod(0o755)
    (folder / cache.RECORD).write_text(record)
    assert cache.built_kernels() == ()


def test_what_is_added_is_read_again(home: Path, tmp_path: Path) -> None:
    program = add("6.12.117", tmp_path)
    assert cache.built_kernels() == (cache.BuiltKernel("6.12.117", "source 1", "aa", "bb", "cc", ("rr", "wrr")),)
    assert (program.parent / cache.CONFIG).read_text() == "CONFIG_A=y\n"
    assert {path.name for path in home.iterdir()} == {cache.LOCK, "6.12.117"}


def test_a_record_that_speaks_of_another_release_is_passed_over(home: Path, tmp_path: Path) -> None:
    add("6.12.117", tmp_path).parent.rename(home / "6.13")
    assert cache.built_kernels() == ()


def test_a_program_that_cannot_be_executed_is_passed_over(home: Path, tmp_path: Path) -> None:
    program = add("6.12.117", tmp_path)
    program.unlink()
    program.symlink_to("/nowhere")
    assert cache.built_kernels() == ()


def test_an_addition_that_fails_leaves_the_old_one_and_nothing_else(home: Path, tmp_path: Path) -> None:
    program = add("6.12.117", tmp_path, b"old")
    (kernel,) = cache.built_kernels()
    with pytest.raises(CannotRun, match=r"/not-made: the cache of kernels cannot be changed: found No such file"):
        cache.add_kernel(kernel, tmp_path / "not-made")
    assert program.read_bytes() == b"old"
    assert {path.name for path in home.iterdir()} == {cache.LOCK, "6.12.117"}


def test_what_was_left_by_one_who_was_killed_is_no_kernel_and_is_removed(home: Path, tmp_path: Path) -> None:
    left = home / f"{cache.UNFINISHED}x"
    add("6.12.117", tmp_path).parent.rename(left)
    assert cache.built_kernels() == ()
    add("6.1.192", tmp_path)
    assert not left.exists()


def test_removing_the_kernel_that_was_chosen_forgets_the_choice(home: Path, tmp_path: Path) -> None:
    add("6.12.117", tmp_path)
    add("6.1.192", tmp_path)
    cache.choose_release("6.12.117")
    cache.remove_kernel("6.1.192")
    assert cache.chosen_release() == "6.12.117"
    with pytest.raises(BadInput, match=r"expected the whole release, found 6\.12\.117"):
        cache.remove_kernel("6.12")
    cache.remove_kernel("6.12.117")
    assert cache.chosen_release() == ""
    assert {path.name for path in home.iterdir()} == {cache.LOCK}


def test_several_at_once_leave_one_whole_kernel(home: Path, tmp_path: Path) -> None:
    """Two builds of one release may end together: what is there is always one of them, whole."""
    folders = [tmp_path / str(number) for number in range(40)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda folder: add("6.12.117", folder, folder.name.encode()), folders))
    assert (home / "6.12.117" / cache.PROGRAM).read_bytes() in {folder.name.encode() for folder in folders}
    assert {path.name for path in home.iterdir()} == {cache.LOCK, "6.12.117"}


@pytest.mark.parametrize(
    ("variable", "home_folder", "expected"),
    [
        ("/x", "/home/u", "/x/lvslab/kernels"),
        ("", "/home/u", "/home/u/.cache/lvslab/kernels"),
        ("relative", "/home/u", "/home/u/.cache/lvslab/kernels"),
    ],
)
def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, variable: str, home_folder: str, expected: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", variable)
    monkeypatch.setenv("HOME", home_folder)
    assert cache.kernels_home() == Path(expected)


def test_one_without_a_home_folder_has_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache.built_kernels() == ()
    assert cache.chosen_release() == ""
    with pytest.raises(CannotRun, match="set XDG_CACHE_HOME"):
        cache.choose_release("6.12")


def test_the_schedulers_of_a_configuration() -> None:
    assert built_in_schedulers(["CONFIG_IP_VS=y", "CONFIG_IP_VS_RR=y", "# CONFIG_IP_VS_WRR is not set"]) == ("rr",)
    assert built_in_schedulers(wanted_options(FRAGMENT.read_text())) == SCHEDULERS


def test_our_configuration_asks_for_nothing_twice() -> None:
    options = wanted_options(FRAGMENT.read_text())
    assert len(options) == len({option.partition("=")[0] for option in options})


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
