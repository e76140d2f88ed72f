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
from lvslab.kernels.uml import memory_folder, uml_program

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


def command_line(folder: str = "/run/labs/x", image: UmlImage = IMAGE) -> list[str]:
    return uml_program(image, LabFolder(Path(folder), -1), kernel_line=7, memory_mib=256).argv


def test_the_command_line_has_what_the_guest_needs() -> None:
    words = command_line()
    assert words[0] == "/usr/bin/linux.uml"
    assert {"mem=256M", "ssl0=fd:7,fd:7", "rootfstype=hostfs", "uml_dir=./", "panic=-1"} <= set(words)
    assert words[words.index("--") + 1 : -1] == ["-I", "-S", "-B"]


def kernel_splits(text: str) -> list[str]:
    """Cut a command line into words as the kernel does (lib/cmdline.c: next_arg; lib/ctype.c has A0 as a space)."""
    words, word, quoted = [], bytearray(), False
    for byte in os.fsencode(text):
        if byte == ord('"'):
            quoted = not quoted
        elif byte in b" \t\n\v\f\r\xa0" and not quoted:
            words.append(os.fsdecode(bytes(word)))
            word.clear()
        else:
            word.append(byte)
    return [*words, os.fsdecode(bytes(word))]


@pytest.mark.parametrize("folder", ["/run/x", "/with two  spaces", "/voilà", "/tab\tand\nline", "/実験", "/a=b,c--d"])
def test_a_path_stays_one_word(folder: str) -> None:
    image = UmlImage(IMAGE.program, Path(folder) / "modules", "6.1")
    words = kernel_splits(" ".join(command_line(folder, image)))
    assert f"LVSLAB_SHARE={folder}/share" in words
    assert f"LVSLAB_MODULES={folder}/modules" in words
    assert len(words) == len(command_line(folder, image))


def test_a_quote_in_a_path_is_refused() -> None:
    with pytest.raises(CannotRun, match="use a path without quotes"):
        command_line('/a"b')


def test_too_long_a_command_line_is_refused() -> None:
    assert command_line("/x" * 1600)
    with pytest.raises(CannotRun, match=r"at most 4095 bytes, found [0-9]+, most of it paths"):
        command_line("/x" * 2000)
