"""Which kernel is chosen, where its memory goes, and the words of its command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from lvslab.agent.syscalls import ST_NOEXEC
from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import images, native
from lvslab.kernels.choose import VARIABLE, choose_kernel
from lvslab.kernels.folder import LabFolder
from lvslab.kernels.images import UmlImage
from lvslab.kernels.uml import GUEST_PROGRAM, memory_folder, uml_program

IMAGE = UmlImage(Path("/usr/bin/linux.uml"), Path("/usr/lib/uml/modules"), "6.1")
OWN = UmlImage(Path("/cache/6.12.117/linux"), None, "6.12.117")
NOT_ROOT = "not root"
ALLOWED = "native, uml or uml:RELEASE"


@pytest.mark.parametrize(
    ("asked", "environment", "not_native", "image", "chosen"),
    [
        (None, None, "", IMAGE, "native"),
        (None, None, "", None, "native"),
        (None, None, NOT_ROOT, IMAGE, "uml"),
        (None, "", NOT_ROOT, IMAGE, "uml"),
        ("uml", None, "", IMAGE, "uml"),
        (None, "uml", "", IMAGE, "uml"),
        ("uml", "native", NOT_ROOT, IMAGE, "uml"),
        ("native", "uml", "", None, "native"),
        (None, "native", "", IMAGE, "native"),
        ("native", None, NOT_ROOT, IMAGE, CannotRun("the running kernel cannot be used: found not root")),
        (None, "native", NOT_ROOT, IMAGE, CannotRun("the running kernel cannot be used: found not root")),
        (None, None, NOT_ROOT, None, CannotRun("no kernel to run on: found native: not root; uml: no User-Mode Linux")),
        ("uml", None, "", None, CannotRun("there is no User-Mode Linux kernel; build one: lvslab kernel build")),
        ("uml:6.12", None, "", OWN, "uml:6.12"),
        (None, "uml:6.12.117", "", OWN, "uml:6.12.117"),
        ("uml:6.1", None, "", None, CannotRun("there is no User-Mode Linux kernel")),
        ("uml:6.1", None, "", OWN, BadInput("--kernel: no such kernel: expected one of uml:6.12.117, found 6.1")),
        (None, "uml:7", "", OWN, BadInput("LVSLAB_KERNEL: no such kernel: expected one of uml:6.12.117, found 7")),
        *(
            (name, None, "", IMAGE, BadInput(f"--kernel: unknown kernel: expected {ALLOWED}, found {name}"))
            for name in ("qemu", "uml:", "native:6.1", "uml6.1", ":", "6.1")
        ),
        (None, "Native", "", IMAGE, BadInput(f"LVSLAB_KERNEL: unknown kernel: expected {ALLOWED}, found Native")),
    ],
)
def test_the_kernel_chosen(
    monkeypatch: pytest.MonkeyPatch,
    asked: str | None,
    environment: str | None,
    not_native: str,
    image: UmlImage | None,
    chosen: str | CannotRun | BadInput,
) -> None:
    monkeypatch.setattr(native, "why_not_native", lambda: not_native)
    monkeypatch.setattr(images, "images", lambda: (image,) if image else ())
    monkeypatch.delenv(VARIABLE, raising=False)
    if environment is not None:
        monkeypatch.setenv(VARIABLE, environment)
    if isinstance(chosen, str):
        assert choose_kernel(asked) == chosen
        return
    with pytest.raises(type(chosen)) as caught:
        choose_kernel(asked)
    assert str(caught.value).startswith(str(chosen))


@pytest.mark.parametrize(
    ("uid", "capabilities", "first", "modules", "reason"),
    [
        (0, True, True, {"ip_vs", "veth"}, ""),
        (1000, True, True, {"ip_vs", "veth"}, "not root"),
        (0, False, True, {"ip_vs", "veth"}, "root without CAP_NET_ADMIN and CAP_SYS_ADMIN, as in a container"),
        (0, True, False, {"ip_vs", "veth"}, "root in a user namespace, where IPVS cannot be configured"),
        (0, True, True, {"veth"}, "this kernel has no ip_vs"),
        (0, True, True, {"ip_vs"}, "this kernel has no veth"),
    ],
)
def test_why_not_native(
    monkeypatch: pytest.MonkeyPatch, uid: int, capabilities: bool, first: bool, modules: set[str], reason: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(native, "has_capabilities", lambda _status: capabilities)
    monkeypatch.setattr(native, "_in_first_user_namespace", lambda: first)
    monkeypatch.setattr(native, "has_module", lambda name: name in modules)
    assert native.why_not_native() == reason


@pytest.mark.parametrize(
    ("mask", "enough"),
    [("000001ffffffffff", True), ("00000000a80425fb", False), ("0000000000201000", True), ("0", False)],
)
def test_capabilities(mask: str, enough: bool) -> None:
    """The second mask is what Docker leaves to root."""
    assert native.has_capabilities(f"Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t{mask}\n") == enough


Statvfs = Callable[[Path], SimpleNamespace]


def file_systems(table: dict[str, tuple[int, int]]) -> Statvfs:
    """Return a statvfs(3) that knows free MiB and flags of some folders."""

    def statvfs(path: Path) -> SimpleNamespace:
        free_mib, flags = table[str(path)]
        return SimpleNamespace(f_bavail=free_mib, f_frsize=1 << 20, f_flag=flags)

    return statvfs


@pytest.mark.parametrize(
    ("chosen", "table", "expected"),
    [
        (None, {"/dev/shm": (600, 0)}, "/dev/shm"),
        (None, {"/dev/shm": (512, 0)}, "/dev/shm"),
        (None, {"/dev/shm": (64, 0), "/tmp": (9000, 0)}, "/tmp"),
        (None, {"/dev/shm": (9000, ST_NOEXEC), "/tmp": (9000, 0)}, "/tmp"),
        (None, {"/tmp": (9000, 0)}, "/tmp"),
        ("/big", {"/big": (9000, 0), "/dev/shm": (9000, 0)}, "/big"),
        ("/big", {"/big": (9000, ST_NOEXEC), "/dev/shm": (9000, 0)}, "/dev/shm"),
        ("/not there", {"/dev/shm": (9000, 0)}, "/dev/shm"),
        (None, {"/dev/shm": (64, 0), "/tmp": (511, 0)}, "/dev/shm has 64 MiB free; /tmp has 511 MiB free"),
        (None, {"/dev/shm": (900, ST_NOEXEC)}, "/dev/shm is mounted noexec; /tmp is not writable"),
    ],
)
def test_where_the_guests_memory_goes(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, table: dict[str, tuple[int, int]], expected: str
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    if chosen:
        monkeypatch.setenv("TMPDIR", chosen)
    monkeypatch.setattr(os, "access", lambda path, _mode: str(path) in table)
    monkeypatch.setattr(os, "statvfs", file_systems(table))
    if expected in table:
        assert memory_folder(512) == Path(expected)
        return
    with pytest.raises(CannotRun, match="expected 512 MiB free") as caught:
        memory_folder(512)
    assert caught.value.found == expected


def command_line(folder: Path, image: UmlImage = IMAGE, *, virtual_time: bool = False) -> list[str]:
    folder.mkdir(parents=True)
    return uml_program(image, LabFolder(folder, -1), memory_mib=256, virtual_time=virtual_time).argv


def test_the_command_line_has_what_the_guest_needs(tmp_path: Path) -> None:
    words = command_line(tmp_path / "lab")
    assert words[0] == "/usr/bin/linux.uml"
    assert {"mem=256M", "ssl0=fd:3,fd:3", "rootfstype=hostfs", "uml_dir=./", "panic=-1"} <= set(words)
    assert not any(word.startswith("time-travel") for word in words)
    assert words[words.index("--") + 1 : -1] == ["-s", "-P", "-S", "-B"]


@pytest.mark.parametrize("name", ["with two  spaces", 'a"b', "voilà", "tab\tand\nline", "実験", "a=b,c--d", "x" * 200])
def test_the_words_are_the_same_whatever_the_folder_is_called(tmp_path: Path, name: str) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    image = UmlImage(IMAGE.program, modules, "6.1")
    folder = tmp_path / name
    assert command_line(folder, image) == command_line(tmp_path / "lab", image)
    linked = {path.name: path.resolve() for path in folder.iterdir() if path.is_symlink()}
    assert linked["modules"] == modules
    assert (linked["lvslab"] / GUEST_PROGRAM).is_file()
    assert os.access(linked["python"], os.X_OK)


def test_virtual_time_is_asked_for_in_the_words(tmp_path: Path) -> None:
    words = command_line(tmp_path / "lab", virtual_time=True)
    assert {"time-travel=ext:clock", "LVSLAB_TIME=virtual"} <= set(words)


@pytest.mark.parametrize(
    ("asked", "content", "expected"),
    [
        ("uml", b"umid= time-travel-start=", "uml"),
        (None, b"umid= time-travel-start=", "uml"),
        ("uml", b"umid=", "uml: this kernel has no virtual time"),
        ("native", b"umid= time-travel-start=", "native: this kernel has no virtual time"),
    ],
)
def test_virtual_time_needs_a_kernel_that_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str | None, content: bytes, expected: str
) -> None:
    """Where the running kernel is only the default, another one is taken."""
    (tmp_path / "linux").write_bytes(content)
    image = UmlImage(tmp_path / "linux", None, "6.12")
    monkeypatch.setattr(native, "why_not_native", lambda: "")
    monkeypatch.setattr(images, "find_image", lambda *_: image)
    if expected == "uml":
        assert choose_kernel(asked, virtual_time=True) == expected
        return
    with pytest.raises(CannotRun, match=expected) as caught:
        choose_kernel(asked, virtual_time=True)
    assert "lvslab kernel build" in str(caught.value)
