"""`lvslab kernel build` with a source that takes no time to compile: a Makefile that answers as the kernel's does."""

from __future__ import annotations

import io
import os
import platform
import select
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path

import pytest

from lvslab.cli.main import main
from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import cache
from lvslab.kernels.build import compile as building
from lvslab.kernels.build import source, work
from lvslab.kernels.build.config import FRAGMENT
from lvslab.kernels.build.make import MakeFailed
from lvslab.report.progress import Counter
from lvslab.topology.limits import SCHEDULERS

CONFIGURE = "allnoconfig:\n\tcp $(KCONFIG_ALLCONFIG) $(O)/.config\n"
RELEASE = """\
\tmkdir -p $(O)/include/config; echo 6.99.1-lvslab > $(O)/include/config/kernel.release
\techo kernel/net/netfilter/ipvs/ip_vs.ko > $(O)/modules.builtin
\tprintf 'ip_vs.license=GPL\\0' > $(O)/modules.builtin.modinfo
"""
COMPILE = (
    f"linux:\n\t@echo '  CC      a.o'; echo '  LD      b.o'; echo '  CC      c.o'\n{RELEASE}\tcp /bin/true $(O)/linux\n"
)
GOOD = CONFIGURE + COMPILE


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "work"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(work, "ROOM_MIB", 0)


def archive(folder: Path, makefile: str, *, names: Sequence[str] = ("Kbuild",)) -> Path:
    tree = folder / "linux-source-6.99"
    tree.mkdir()
    (tree / "Makefile").write_text(makefile)
    for name in names:
        (tree / name).touch()
    path = folder / "linux-source-6.99.tar.xz"
    with tarfile.open(path, "w:xz") as file:
        file.add(tree, tree.name)
    return path


class Said:
    """What a build says while it goes on."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.compiled = 0

    def phase(self, text: str) -> AbstractContextManager[None]:
        self.phases.append(text.split(maxsplit=1)[0])
        return nullcontext()

    def count(self) -> None:
        self.compiled += 1


def build(path: Path, said: Said | None = None) -> cache.BuiltKernel:
    said = said or Said()
    return building.build_kernel(str(path), jobs=2, phase=said.phase, compiled=said.count)


def work_left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "work").iterdir())


def test_what_is_built_is_in_the_cache_with_its_record(tmp_path: Path) -> None:
    said = Said()
    path = archive(tmp_path, GOOD)
    kernel = build(path, said)
    assert cache.built_kernels() == (kernel,)
    folder = cache.folder_of(kernel)
    program = (folder / cache.PROGRAM).read_bytes()
    assert program.startswith(b"\x7fELF")
    assert kernel == cache.BuiltKernel(
        release="6.99.1-lvslab",
        source="linux-source-6.99.tar.xz",
        source_sha256=sha256(path.read_bytes()).hexdigest(),
        config_sha256=sha256(FRAGMENT.read_bytes()).hexdigest(),
        program_sha256=sha256(program).hexdigest(),
        schedulers=SCHEDULERS,
    )
    assert 'CONFIG_LOCALVERSION="-lvslab"' in (folder / cache.CONFIG).read_text()
    for module, status in {"ip_vs": 0, "ip_vs_not": 1}.items():
        assert modprobe_says(folder / cache.MODULES, kernel.release, module) == status
    assert said.phases == ["fetch", "unpack", "configure", "compile", "install"]
    assert said.compiled == 2
    assert work_left(tmp_path) == []


def modprobe_says(modules: Path, release: str, name: str) -> int:
    """Return modprobe's exit status for a module, with a kernel's folder of modules as the guest has it."""
    root = modules.parent / "root"
    (root / "lib").mkdir(parents=True, exist_ok=True)
    if not (root / "lib" / "modules").exists():
        (root / "lib" / "modules").symlink_to(modules)
    argv: list[str | Path] = ["/sbin/modprobe", "-n", "-d", root, "-S", release, name]
    return subprocess.run(argv, check=False, capture_output=True).returncode


def test_make_is_told_what_makes_builds_alike_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBUILD_BUILD_USER", "somebody")
    monkeypatch.setenv("MAKEFLAGS", "--dry-run")
    monkeypatch.setenv("CC", "none")
    dump = tmp_path / "environment"
    build(archive(tmp_path, f"{CONFIGURE}\tenv > {dump}\n{COMPILE}"))
    said = dict(line.split("=", 1) for line in dump.read_text().splitlines() if "=" in line)
    assert said["KBUILD_BUILD_USER"] == said["KBUILD_BUILD_HOST"] == "lvslab"
    assert said["KBUILD_BUILD_TIMESTAMP"] == "2000-01-01"
    assert said["LC_ALL"] == "C"
    assert "dry-run" not in said.get("MAKEFLAGS", "")
    assert "CC" not in said


def test_a_source_that_drops_an_option_is_not_built(tmp_path: Path) -> None:
    said = Said()
    lossy = f"{CONFIGURE}\tsed -i '/CONFIG_IP_VS_MH=/d' $(O)/.config\n{COMPILE}"
    with pytest.raises(CannotRun, match=r"dropped options: expected CONFIG_IP_VS_MH=y,"):
        build(archive(tmp_path, lossy), said)
    assert said.phases[-1] == "configure"
    assert cache.built_kernels() == ()
    assert work_left(tmp_path) == []


FAILING = f"""{CONFIGURE}linux:
\t@echo '  CC      a.o'
\t@for n in `seq 50`; do echo "noise $$n"; done
\t@echo 'net/ipv4/a.c:7:1: error: expected ;' >&2
\t@echo 'last words'; exit 1
"""


def test_a_failed_build_says_the_first_error_and_keeps_the_tail(tmp_path: Path) -> None:
    with pytest.raises(MakeFailed, match=r"make -j2 linux: the kernel does not build: found net/ipv4/a\.c:7") as caught:
        build(archive(tmp_path, FAILING))
    assert caught.value.exit_status == 3
    assert {"noise 50", "last words"} <= set(caught.value.tail)
    assert "noise 1" not in caught.value.tail
    assert work_left(tmp_path) == []


def test_the_command_shows_the_tail_and_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["kernel", "build", str(archive(tmp_path, FAILING))])
    assert caught.value.code == 3
    said = capsys.readouterr().err
    assert "  last words\n" in said
    assert said.splitlines()[-1].startswith("lvslab: make -j")
    assert "Traceback" not in said


def test_the_command_counts_files_in_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = (
        f"{CONFIGURE}linux:\n\t@for n in `seq 250`; do echo '  CC      a.o'; done\n{RELEASE}\tcp /bin/true $(O)/linux\n"
    )
    with pytest.raises(SystemExit) as caught:
        main(["kernel", "build", str(archive(tmp_path, many))])
    said = capsys.readouterr()
    assert caught.value.code == 0
    assert [line for line in said.err.splitlines() if line.endswith("files compiled")] == [
        "  100 files compiled",
        "  200 files compiled",
    ]
    assert said.out.startswith("uml:6.99.1-lvslab, from linux-source-6.99.tar.xz, schedulers: rr wrr")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_files_are_counted_in_place_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    counter = Counter(terminal, "files compiled")
    counter.count()
    counter.count()
    assert terminal.getvalue() == "\r  1 files compiled\r\r  2 files compiled\r"


@pytest.mark.parametrize(
    ("makefile", "names", "message"),
    [
        (GOOD, ("README",), "the archive holds no kernel source: expected one folder with Kbuild"),
        (CONFIGURE + "linux:\n" + RELEASE + "\techo text > $(O)/linux\n", ("Kbuild",), "strip failed"),
        (COMPILE, ("Kbuild",), r"make allnoconfig: the kernel does not build: found make: \*\*\* No rule"),
    ],
    ids=["no source", "no program", "no such goal"],
)
def test_sources_that_cannot_be_built(tmp_path: Path, makefile: str, names: Sequence[str], message: str) -> None:
    with pytest.raises((BadInput, CannotRun), match=message):
        build(archive(tmp_path, makefile, names=names))
    assert cache.built_kernels() == ()
    assert work_left(tmp_path) == []


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    path = archive(tmp_path, GOOD)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CannotRun, match=r"tar failed: .*the archive is damaged"):
        build(path)
    assert work_left(tmp_path) == []


def test_missing_tools_are_named_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "TOOLS", ("make", "no-flex", "no-bison"))
    with pytest.raises(CannotRun, match=r"found no no-flex, no-bison; apt-get install make"):
        build(archive(tmp_path, GOOD))


def test_another_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(CannotRun, match="x86-64 only: found aarch64"):
        build(archive(tmp_path, GOOD))


def test_a_package_that_is_not_there_says_how_to_find_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    for name, script in {"apt-get": "echo E: Unable to locate package x >&2; exit 100", "dpkg-deb": "exit 1"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(source, "INSTALLED_FOLDER", tmp_path)
    with pytest.raises(
        CannotRun, match=r"apt-get download linux-source-6\.99 failed: found E: Unable.*apt-cache search"
    ):
        building.build_kernel("linux-source-6.99", jobs=1, phase=Said().phase, compiled=Said().count)
    assert work_left(tmp_path) == []


APT_GET = """#!/bin/sh
mkdir -p p/usr/src p/DEBIAN
cp {archive} p/usr/src/
cat > p/DEBIAN/control << .
Package: linux-source-6.99
Version: 1:6.99.1-1
Architecture: all
Maintainer: x
Description: x
.
dpkg-deb -b p linux-source-6.99_1%3a6.99.1-1_all.deb > /dev/null
rm -r p
"""


def test_a_package_is_fetched_and_recorded_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "apt-get").write_text(APT_GET.format(archive=archive(tmp_path, GOOD)))
    (tmp_path / "bin" / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(source, "INSTALLED_FOLDER", tmp_path / "none")
    kernel = building.build_kernel("linux-source-6.99", jobs=1, phase=Said().phase, compiled=Said().count)
    assert kernel.source == "linux-source-6.99 1:6.99.1-1"


@pytest.mark.parametrize(
    ("name", "room_mib", "found"),
    [
        ("not there", 0, "no folder you may write to"),
        ("a space", 0, "a space or colon in its path"),
        ("full", 1 << 40, "MiB free"),
    ],
)
def test_folders_that_nothing_can_be_built_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, room_mib: int, found: str
) -> None:
    if name != "not there":
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / name))
    monkeypatch.setattr(work, "ROOM_MIB", room_mib)
    with pytest.raises(CannotRun, match=f"no folder to build in: .*found .*{found}; set TMPDIR"):
        build(archive(tmp_path, GOOD))


def test_a_cache_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    said = Said()
    with pytest.raises(CannotRun, match=r"the cache of kernels cannot be changed.*XDG_CACHE_HOME"):
        build(archive(tmp_path, GOOD), said)
    assert said.phases == []
    assert work_left(tmp_path) == []


class Builder:
    """`lvslab kernel build` in a process of its own, in the midst of compiling."""

    def __init__(self, tmp_path: Path) -> None:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        news = folder / "news"
        os.mkfifo(news)
        self._news = os.open(news, os.O_RDWR)
        endless = f"{CONFIGURE}linux:\n\t@echo $$$$ > {news}; exec sleep 10000\n"
        code = (
            "import sys; from lvslab.kernels.build import work; work.ROOM_MIB = 0;"
            "from lvslab.cli.main import main; main(['kernel', 'build', sys.argv[1]])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, archive(folder, endless)], stderr=subprocess.PIPE, text=True
        )
        self.compiler = int(os.read(self._news, 100))

    def end(self, number: signal.Signals) -> tuple[int, str]:
        watch = os.pidfd_open(self.compiler)
        self.process.send_signal(number)
        said = self.process.communicate()[1]
        # Readable when the process has ended (pidfd_open(2)).
        select.select([watch], [], [])
        os.close(watch)
        os.close(self._news)
        return self.process.returncode, said


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_build_that_is_ended_leaves_no_process_and_no_folder(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    builder = Builder(tmp_path)
    assert len(work_left(tmp_path)) == 1
    code, said = builder.end(number)
    assert code == status
    assert "Traceback" not in said
    assert work_left(tmp_path) == []
    assert cache.built_kernels() == ()


def test_what_a_killed_build_leaves_is_removed_by_the_next_but_not_what_a_living_one_has(tmp_path: Path) -> None:
    killed, living = Builder(tmp_path), Builder(tmp_path)
    assert len(work_left(tmp_path)) == 2
    killed.end(signal.SIGKILL)
    assert len(work_left(tmp_path)) == 2
    build(archive(tmp_path, GOOD))
    assert len(work_left(tmp_path)) == 1
    living.end(signal.SIGTERM)
    assert work_left(tmp_path) == []
