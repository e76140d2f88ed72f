"""The folders of labs: whose they are, which are dead, and what is never touched."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lvslab.errors import CannotRun
from lvslab.kernels import folder
from lvslab.kernels.folder import (
    JOURNAL,
    LOCK,
    MARK,
    Removal,
    labs_home,
    make_lab_folder,
    read_journal,
    remove_lab,
    remove_leftovers,
    write_journal,
)

DEAD = "lvslab-verify-0123abcd"


def dead_lab(home: Path, name: str = DEAD) -> Path:
    path = home / name
    (path / "share").mkdir(parents=True)
    (path / LOCK).touch()
    write_journal(path, {"lab": "verify"})
    return path


def test_a_lab_is_private_locked_and_journalled(home: Path) -> None:
    lab = make_lab_folder("verify")
    try:
        assert lab.path.parent == home
        assert {oct(path.stat().st_mode & 0o777) for path in (lab.path, lab.share)} == {"0o700"}
        assert read_journal(lab.path) == {"lab": "verify"}
        assert not os.get_inheritable(lab.lock)
        assert remove_leftovers() == ()
    finally:
        os.close(lab.lock)
    assert remove_leftovers() == (Removal(lab.path.name, complete=True),)
    assert not lab.path.exists()


def test_the_mask_of_the_user_does_not_open_it(home: Path) -> None:
    before = os.umask(0)
    try:
        lab = make_lab_folder("verify")
    finally:
        os.umask(before)
    os.close(lab.lock)
    assert lab.path.stat().st_mode & 0o077 == 0
    assert (lab.path / LOCK).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("missing", [(), (LOCK,), (JOURNAL,), (LOCK, JOURNAL), (LOCK, JOURNAL, "share")])
def test_a_lab_cut_short_at_any_point_is_removed(home: Path, missing: tuple[str, ...]) -> None:
    path = dead_lab(home)
    for name in missing:
        (path / name).rmdir() if name == "share" else (path / name).unlink()
    assert remove_leftovers() == (Removal(DEAD, complete=True),)
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"lab": ', "\0\0\0", '{"group": "x", "program": 7}', "\ud800"])
def test_a_journal_that_is_garbage_does_no_harm(home: Path, text: str) -> None:
    path = dead_lab(home)
    (path / JOURNAL).write_bytes(text.encode("utf-8", "surrogatepass"))
    assert remove_leftovers() == (Removal(DEAD, complete=True),)


def test_half_a_journal_is_never_seen(home: Path) -> None:
    path = dead_lab(home)
    (path / (JOURNAL + ".new")).write_text('{"gro')
    assert read_journal(path) == {"lab": "verify"}


@pytest.mark.parametrize(
    "name",
    ["mine", "lvslab", "lvslab-verify", "lvslab-verify-0123abc", "verify-0123abcd", "lvslab-verify-0123abcd.old"],
)
def test_what_is_not_named_like_a_lab_is_left_alone(home: Path, name: str) -> None:
    (home / name).mkdir()
    (home / name / "precious").touch()
    (home / "file-0123abcd").touch()
    assert remove_leftovers() == ()
    assert (home / name / "precious").exists()


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    path = dead_lab(home)
    (path / "link").symlink_to(elsewhere)
    (path / "share" / "deep").symlink_to(elsewhere)
    (home / "lvslab-verify-4567cdef").symlink_to(elsewhere)
    assert remove_leftovers() == (Removal(DEAD, complete=True),)
    assert (elsewhere / "precious").exists()
    assert (home / "lvslab-verify-4567cdef").is_symlink()


def test_foreign_files_in_a_dead_lab_go_with_it(home: Path) -> None:
    path = dead_lab(home)
    closed = path / "share" / "nginx"
    closed.mkdir()
    (closed / "file").touch()
    closed.chmod(0)
    assert remove_leftovers() == (Removal(DEAD, complete=True),)
    assert not path.exists()


@contextmanager
def sleeper(cwd: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "1000"], cwd=cwd, env=environment, process_group=0) as process:
        try:
            yield process
        finally:
            process.kill()


def kernel_of(process: subprocess.Popen[bytes]) -> dict[str, object]:
    return {"group": process.pid, "program": str(Path("/bin/sleep").resolve())}


def ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def test_processes_that_carry_the_mark_are_ended(home: Path) -> None:
    path = dead_lab(home)
    with sleeper(home, **{MARK: str(path)}) as ours, sleeper(home, **{MARK: f"{path}0"}) as other:
        assert remove_lab(path)
        assert ended(ours)
        assert not ended(other)


def test_processes_of_the_kernel_are_ended_without_the_mark(home: Path) -> None:
    path = dead_lab(home)
    with sleeper(path) as helper:
        write_journal(path, kernel_of(helper))
        assert remove_lab(path)
        assert ended(helper)


@pytest.mark.parametrize("changed", [{"group": 1}, {"program": "/bin/other"}, {}], ids=["group", "program", "folder"])
def test_a_number_used_again_is_not_taken_for_the_kernel(home: Path, changed: dict[str, object]) -> None:
    """After a reboot, or days later, the process that has the number is somebody else's."""
    path = dead_lab(home)
    with sleeper(path if changed else home) as stranger:
        write_journal(path, kernel_of(stranger) | changed)
        assert remove_lab(path)
        assert not ended(stranger)


def test_the_caller_is_spared(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dead_lab(home)
    code = f"from pathlib import Path; from lvslab.kernels import folder; print(folder.remove_lab(Path({str(path)!r})))"
    done = subprocess.run([sys.executable, "-c", code], env={MARK: str(path)}, capture_output=True, check=True)
    assert done.stdout == b"True\n"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777], ids=oct)
def test_a_home_that_others_may_write_to_is_refused_and_left_as_it_is(home: Path, mode: int) -> None:
    home.chmod(mode)
    with pytest.raises(CannotRun, match="others may write to it; set LVSLAB_HOME"):
        labs_home()
    assert home.stat().st_mode & 0o7777 == mode


def test_a_home_that_others_may_read_is_used_as_it_is(home: Path) -> None:
    home.chmod(0o755)
    assert labs_home() == home
    assert home.stat().st_mode & 0o777 == 0o755


def test_a_home_of_another_user_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: home.stat().st_uid + 1)
    with pytest.raises(CannotRun, match="belongs to user"):
        labs_home()


def test_a_home_that_is_a_file_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").touch()
    for path in (home / "file", home / "file" / "below"):
        monkeypatch.setenv("LVSLAB_HOME", str(path))
        with pytest.raises(CannotRun, match=r"cannot be used.*set LVSLAB_HOME"):
            labs_home()


def test_a_relative_home_is_below_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LVSLAB_HOME", "my/labs")
    assert labs_home() == tmp_path / "my" / "labs"


def test_the_users_own_link_is_followed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("LVSLAB_HOME", str(tmp_path / "link"))
    assert labs_home() == home


def test_a_link_in_the_folder_for_temporary_files_is_a_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LVSLAB_HOME", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "target").mkdir(mode=0o700)
    (tmp_path / f"lvslab-{os.getuid()}").symlink_to(tmp_path / "target")
    with pytest.raises(CannotRun, match="found a link"):
        labs_home()


def test_where_labs_live_without_a_word_from_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LVSLAB_HOME", raising=False)
    runtime, temporary = tmp_path / "run", tmp_path / "tmp"
    for path in (runtime, temporary):
        path.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(temporary))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert labs_home() == runtime / "lvslab"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "not there"))
    assert labs_home() == temporary / f"lvslab-{os.getuid()}"


def test_a_full_disk_is_told_and_nothing_is_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(folder, "write_journal", full)
    with pytest.raises(CannotRun, match="No space left on device"):
        make_lab_folder("verify")
    assert list(home.glob("lvslab-*")) == []


def test_a_lock_that_is_never_given_back_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_LOCK_POLLS", 3)
    with (home / LOCK).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(CannotRun, match="keeps the folder for labs locked"):
            remove_leftovers()
