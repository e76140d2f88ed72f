"""Packs a kernel as a wheel: `pip install` is then enough for a user with neither root nor apt.

The distribution is `lvslab-kernel`, its package `lvslab_kernel` holds the program, its record and configuration and
the offer of its source that the GNU GPL, version 2, section 3 asks for. Format: the Python Packaging User Guide's
"Binary distribution format".
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from lvslab.errors import CannotRun
from lvslab.kernels import cache
from lvslab.kernels.cache import BuiltKernel
from lvslab.kernels.images import PYTHON_PACKAGE

TAG = "py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64"
"""The program is linked statically (CONFIG_STATIC_LINK): it asks nothing of the C library it finds."""
LICENCE = "GPL-2.0-only WITH Linux-syscall-note AND LGPL-2.1-or-later"
"""The kernel's, and the C library's that is linked into it."""
_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip file can hold: the same kernel gives the same wheel."""
_FILE = 0o100644
_PROGRAM = 0o100755

_README = """\
# lvslab-kernel

Linux {release} as User-Mode Linux: a kernel that runs as an ordinary process. lvslab finds it once it is installed.

## Source

The program `linux` is under the GNU General Public License, version 2 (with the syscall note); the GNU C Library,
under the GNU LGPL, version 2.1 or later, is linked into it. Its source is

- {source}, with Debian's patches and nothing else changed: <https://snapshot.debian.org/binary/{package}/>
- SHA-256 of the source archive: {source_sha256}
- the configuration: the file `config` in the package `lvslab_kernel`

Build it again with `lvslab kernel build ARCHIVE`, or with `make ARCH=um linux` in the source and that configuration as
`.config`. Whoever passes this wheel on must pass the source on as well, or offer it from the same place.

SHA-256 of the program: {program_sha256}
"""

_METADATA = """\
Metadata-Version: 2.4
Name: lvslab-kernel
Version: {version}
Summary: Linux {release} as User-Mode Linux, with all of IPVS, for lvslab
License-Expression: {licence}
Requires-Python: >=3.11
Description-Content-Type: text/markdown

{readme}"""

_WHEEL = """\
Wheel-Version: 1.0
Generator: lvslab
Root-Is-Purelib: false
{tags}"""


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    data: bytes
    mode: int = _FILE

    def record(self) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(self.data).digest()).rstrip(b"=").decode()
        return f"{self.name},sha256={digest},{len(self.data)}\n"


def make_wheel(kernel: BuiltKernel, folder: Path) -> Path:
    """Write the wheel of a kernel in the cache into `folder`; return its path. Raises CannotRun."""
    version = _version(kernel.release)
    information = f"{PYTHON_PACKAGE}-{version}.dist-info"
    wheel = folder / f"{PYTHON_PACKAGE}-{version}-{TAG}.whl"
    partial = wheel.with_suffix(".part")
    members = [*_package(kernel), *_information(kernel, version, information)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _write(partial, members, f"{information}/RECORD")
            partial.replace(wheel)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise CannotRun("cannot write the wheel", where=str(folder), found=error.strerror or str(error)) from error
    return wheel


def _version(release: str) -> str:
    """Return the numbers that a release begins with: a version as Python packages have them."""
    found = re.match(r"\d+(\.\d+)*", release)
    if not found:
        raise CannotRun("no version for a wheel", where=release, expected="a release that begins with numbers")
    return found.group()


def _package(kernel: BuiltKernel) -> list[_Member]:
    folder = cache.folder_of(kernel)
    docstring = f'"""Linux {kernel.release} as User-Mode Linux; lvslab reads the files beside this one."""\n'
    return [
        _Member(f"{PYTHON_PACKAGE}/__init__.py", docstring.encode()),
        _Member(f"{PYTHON_PACKAGE}/README.md", _readme(kernel).encode()),
        *(
            _Member(
                f"{PYTHON_PACKAGE}/{path.relative_to(folder)}",
                path.read_bytes(),
                _PROGRAM if path.name == cache.PROGRAM else _FILE,
            )
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        ),
    ]


def _information(kernel: BuiltKernel, version: str, folder: str) -> list[_Member]:
    python, abi, platforms = TAG.split("-")
    tags = "".join(f"Tag: {python}-{abi}-{platform}\n" for platform in platforms.split("."))
    metadata = _METADATA.format(version=version, release=kernel.release, licence=LICENCE, readme=_readme(kernel))
    return [
        _Member(f"{folder}/METADATA", metadata.encode()),
        _Member(f"{folder}/WHEEL", _WHEEL.format(tags=tags).encode()),
    ]


def _readme(kernel: BuiltKernel) -> str:
    return _README.format(
        release=kernel.release,
        source=kernel.source,
        package=kernel.source.split()[0],
        source_sha256=kernel.source_sha256,
        program_sha256=kernel.program_sha256,
    )


def _write(path: Path, members: list[_Member], record: str) -> None:
    lines = "".join(member.record() for member in members) + f"{record},,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for member in (*members, _Member(record, lines.encode())):
            entry = zipfile.ZipInfo(member.name, _DATE)
            entry.external_attr = member.mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.data)
