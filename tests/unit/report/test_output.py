from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.report.output import check_new, check_output, write_new, write_output


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_written_with_the_umask_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_output(str(tmp_path / "r.json"), b"{}\n")
    finally:
        os.umask(previous)
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    assert (tmp_path / "r.json").read_bytes() == b"{}\n"
    assert mode(tmp_path / "r.json") == 0o640


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_bytes(b"old and longer")
    target.chmod(0o604)
    with target.open("rb") as reader:
        write_output(str(target), b"new")
        assert reader.read() == b"old and longer"
    assert target.read_bytes() == b"new"
    assert mode(target) == 0o604


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("real")
    write_output(str(link), b"x")
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_a_failure_half_way_leaves_the_old_file_and_no_partial_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    (tmp_path / "r.json").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BadInput, match="No space left on device"):
        write_output(str(tmp_path / "r.json"), b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("r.json", b"old")]


def test_a_device_is_written_to_and_not_replaced() -> None:
    check_output("/dev/null")
    write_output("/dev/null", b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    write_output(str(fifo), b"x")
    assert os.read(reader, 10) == b"x"
    os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_dash_is_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    check_output("-")
    write_output("-", b"\xe6\x8d\x95\n")
    assert capsysbinary.readouterr().out == b"\xe6\x8d\x95\n"


@pytest.mark.parametrize("act", [check_output, lambda path: write_output(path, b"x")], ids=["check", "write"])
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("none/r.json", "No such file or directory"),
        ("file/r.json", "Not a directory"),
        ("folder", "Is a directory"),
        ("nul\0", "null byte"),
        ("n" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_bad_input(tmp_path: Path, act: object, name: str, found: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    assert callable(act)
    with pytest.raises(BadInput) as caught:
        act(str(tmp_path / name))
    assert caught.value.where == str(tmp_path / name)
    assert found in str(caught.value.found)
    assert "name a file in a folder that exists" in str(caught.value)


def test_a_closed_pipe_and_a_full_device_differ() -> None:
    code = (
        "from lvslab.report.output import write_output\n"
        "try: write_output('-', b'x' * 1000)\n"
        "except Exception as error: import os; os.write(2, type(error).__name__.encode()); os._exit(0)\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        for stdout, error in ((writer, b"BrokenPipeError"), (full.fileno(), b"BadInput")):
            done = subprocess.run([sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, check=False)
            assert done.stderr == error
    os.close(writer)


def test_a_folder_one_may_not_write_to_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Root may write anywhere, so the kernel's answers to another user are played back.
    monkeypatch.setattr(os, "access", lambda path, how: False)
    monkeypatch.setattr(Path, "open", refuse)
    for act in (check_output, lambda path: write_output(path, b"x")):
        with pytest.raises(BadInput, match="found Permission denied"):
            act(str(tmp_path / "r.json"))


def test_what_is_there_is_never_replaced_by_what_is_to_be_new(tmp_path: Path) -> None:
    write_new(str(tmp_path / "new"), b"new")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("new", "link"):
        for refused in (lambda path: write_new(path, b"newer"), check_new):
            with pytest.raises(BadInput, match="there is something already; choose another name"):
                refused(str(tmp_path / name))
    assert (tmp_path / "new").read_bytes() == b"new"
    assert not (tmp_path / "nowhere").exists()


def test_a_device_takes_what_is_new(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_new("/dev/null", b"new")
    write_new("-", b"new")
    assert capsysbinary.readouterr().out == b"new"
