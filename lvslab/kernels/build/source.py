"""The kernel's source: Debian's linux-source package, fetched without root, or an archive the user names."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from lvslab.errors import BadInput, CannotRun

DEFAULT_PACKAGE = "linux-source-6.12"
INSTALLED_FOLDER = Path("/usr/src")
FETCH_TIMEOUT_S = 1800
EXTRACT_TIMEOUT_S = 900
ROOM_HINT = "the archive is damaged, or there is no room: set TMPDIR to a folder with more"


@dataclass(frozen=True, slots=True)
class Source:
    """An archive to build from."""

    name: str
    """Package and version, or the file's name."""
    archive: Path

    def sha256(self) -> str:
        digest = hashlib.sha256()
        with self.archive.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()


def find_source(wanted: str, folder: Path) -> Source:
    """Return the source for `wanted`: an archive's path, or a Debian package to be fetched into `folder`.

    Raises BadInput if it is neither, CannotRun if it cannot be fetched.
    """
    if "/" in wanted or ".tar" in wanted:
        return _archive(Path(wanted))
    installed = INSTALLED_FOLDER / f"{wanted}.tar.xz"
    if installed.is_file():
        return Source(f"{wanted} {_installed_version(wanted)}".strip(), installed)
    return _package(wanted, folder)


def _archive(path: Path) -> Source:
    if not path.is_file():
        raise BadInput("no such archive", where=str(path), expected="a kernel source archive (.tar.xz)")
    return Source(path.name, path.resolve())


def _package(name: str, folder: Path) -> Source:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise CannotRun(
            "the kernel's source cannot be fetched",
            found="no apt-get and dpkg-deb on this machine",
            next_step="fetch a kernel source archive yourself and give its path: lvslab kernel build FILE.tar.xz",
        )
    _run(
        ["apt-get", "-qq", "download", name],
        folder,
        FETCH_TIMEOUT_S,
        f"apt-get download {name}",
        "see which there are: apt-cache search --names-only '^linux-source'; none: apt-get update",
    )
    package = next(iter(sorted(folder.glob(f"{name}_*.deb"))), None)
    if package is None:
        raise CannotRun("the kernel's source was not fetched", where=name, next_step="apt-get update, then try again")
    _run(["dpkg-deb", "-x", str(package), str(folder / "package")], folder, EXTRACT_TIMEOUT_S, "dpkg-deb", ROOM_HINT)
    archive = folder / "package" / "usr" / "src" / f"{name}.tar.xz"
    if not archive.is_file():
        raise BadInput("the package holds no kernel source", where=name, expected=f"usr/src/{archive.name} in it")
    # NAME_VERSION_ARCHITECTURE.deb, a colon in the version as %3a (deb(5), apt-get(8))
    version = package.stem.split("_")[1]
    return Source(f"{name} {unquote(version)}", archive)


def extract(source: Source, folder: Path) -> Path:
    """Unpack the archive into `folder`; return the source tree's top. Raises CannotRun."""
    unpacked = folder / "source"
    unpacked.mkdir()
    _run(["tar", "-xf", str(source.archive), "-C", str(unpacked)], folder, EXTRACT_TIMEOUT_S, "tar", ROOM_HINT)
    tops = [path.parent for path in unpacked.glob("*/Kbuild")]
    if len(tops) != 1:
        raise BadInput(
            "the archive holds no kernel source", where=str(source.archive), expected="one folder with Kbuild"
        )
    return tops[0]


def _installed_version(package: str) -> str:
    if shutil.which("dpkg-query") is None:
        return ""
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", package], check=False, capture_output=True, text=True, timeout=60
    )
    return asked.stdout.strip()


def _run(argv: list[str], folder: Path, timeout_s: float, what: str, next_step: str) -> None:
    try:
        done = subprocess.run(
            argv, cwd=folder, check=False, capture_output=True, text=True, errors="replace", timeout=timeout_s
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{what} did not end within {timeout_s:g} s", next_step=next_step) from None
    if done.returncode:
        words = done.stderr.strip().splitlines()
        found = words[-1] if words else f"exit status {done.returncode}"
        raise CannotRun(f"{what} failed", found=found, next_step=next_step)
