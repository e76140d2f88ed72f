"""The User-Mode Linux kernels there are to boot: installed ones, one from a Python package, and those built here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import cache
from lvslab.kernels.cache import BuiltKernel

PROGRAMS = ("linux.uml", "linux")
MODULE_FOLDER = Path("/usr/lib/uml/modules")
IPVS_MODULES = "kernel/net/netfilter/ipvs"
_SCHEDULER = "ip_vs_"
_NOT_SCHEDULERS = frozenset({"ftp", "pe_sip"})
PYTHON_PACKAGE = "lvslab_kernel"
INSTALL_HINT = (
    "build one: lvslab kernel build; or install one: pip install lvslab-kernel, or apt-get install user-mode-linux"
)


class Origin(StrEnum):
    """Where an image comes from."""

    INSTALLED = "installed"
    """In PATH: Debian's package, or one the user put there."""
    PACKAGE = "Python package"
    BUILT = "built"


@dataclass(frozen=True, slots=True)
class UmlImage:
    """A kernel to boot: its program, and the folder of RELEASE/modules.dep if there is one."""

    program: Path
    modules: Path | None
    release: str
    """As recorded when it was built, or as the modules' folder is named; empty if not known before booting."""
    schedulers: tuple[str, ...] = ()
    """The IPVS schedulers it has; empty if not known before booting."""
    origin: Origin = Origin.INSTALLED


def images() -> tuple[UmlImage, ...]:
    """Return all images, those preferred last: installed, from a Python package, built from oldest to newest."""
    return (*_installed(), *_from_python_package(), *_built())


def find_image(name: str = "") -> UmlImage | None:
    """Return the newest image whose release is `name` or begins with it, or None.

    Without a name: the one the user chose, else the one preferred.
    """
    known = images()
    if not name:
        chosen = cache.chosen_release()
        return next((image for image in reversed(known) if image.release == chosen != ""), known[-1] if known else None)
    matching = [image for image in reversed(known) if cache.matches(image.release, name)]
    return max(matching, key=lambda image: cache.version_key(image.release), default=None)


def need_image(name: str = "", *, where: str = "") -> UmlImage:
    """Return what `find_image` does. Raises BadInput if there are only others, CannotRun if there is none at all."""
    image = find_image(name)
    if image is not None:
        return image
    known = images()
    if not known:
        raise CannotRun("there is no User-Mode Linux kernel", next_step=INSTALL_HINT)
    raise BadInput(
        "no such kernel",
        where=where or name,
        expected="one of " + ", ".join(f"uml:{image.release}" for image in known if image.release),
        found=name,
        next_step="lvslab kernel build makes others",
    )


def use_image(name: str) -> UmlImage:
    """Make an image the one that `uml` means. Raises BadInput or CannotRun."""
    if not name:
        raise BadInput("no kernel named", expected="a release, or the beginning of one", next_step="lvslab kernel list")
    image = need_image(name)
    cache.choose_release(image.release)
    return image


def scheduler_modules(folder: Path) -> tuple[str, ...]:
    """Return the schedulers that are modules in a folder (net/netfilter/ipvs/Makefile: ip_vs_NAME.ko)."""
    names = {path.name.split(".", 1)[0].removeprefix(_SCHEDULER) for path in folder.glob(f"{_SCHEDULER}*")}
    return tuple(sorted(names - _NOT_SCHEDULERS))


def _installed() -> Iterator[UmlImage]:
    for name in PROGRAMS:
        found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")
        if found and _is_kernel(Path(found)):
            yield _with_modules(Path(found).resolve())
            return


def _with_modules(program: Path) -> UmlImage:
    releases = [path.name for path in MODULE_FOLDER.iterdir()] if MODULE_FOLDER.is_dir() else []
    if not releases:
        return UmlImage(program, None, "")
    release = max(releases, key=cache.version_key)
    return UmlImage(program, MODULE_FOLDER, release, scheduler_modules(MODULE_FOLDER / release / IPVS_MODULES))


def _is_kernel(path: Path) -> bool:
    """Tell a UML kernel from another program called ``linux``: it knows the umid= argument."""
    if path.name == "linux.uml":
        return True
    try:
        return b"umid=" in path.read_bytes()
    except OSError:
        return False


def _from_python_package() -> Iterator[UmlImage]:
    specification = find_spec(PYTHON_PACKAGE)
    for folder in (specification and specification.submodule_search_locations) or ():
        if kernel := cache.read_kernel(Path(folder)):
            yield _image(kernel, Path(folder), Origin.PACKAGE)


def _built() -> Iterator[UmlImage]:
    for kernel in cache.built_kernels():
        yield _image(kernel, cache.folder_of(kernel), Origin.BUILT)


def _image(kernel: BuiltKernel, folder: Path, origin: Origin) -> UmlImage:
    return UmlImage(folder / cache.PROGRAM, folder / cache.MODULES, kernel.release, kernel.schedulers, origin)
