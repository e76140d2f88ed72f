"""Which kernel a lab runs on: what the user asked for, else native when it can, else uml."""

from __future__ import annotations

import os

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import images, native, uml
from lvslab.kernels.bytecode import leave_bytecode
from lvslab.kernels.folder import remove_leftovers
from lvslab.kernels.memory import check_memory
from lvslab.kernels.start import RunningKernel, start_kernel

NATIVE = "native"
UML = "uml"
VARIABLE = "LVSLAB_KERNEL"
UP_TIMEOUT_S = 60.0
_NAMES = "native, uml or uml:RELEASE"


def choose_kernel(asked: str | None = None, *, virtual_time: bool = False) -> str:
    """Return `native`, `uml` or `uml:RELEASE`: `asked`, else LVSLAB_KERNEL, else what this machine can do.

    RELEASE is that of a User-Mode Linux kernel, or a beginning of it: uml:6.12. Raises BadInput for another name,
    CannotRun if the kernel asked for, or every kernel, is out of reach or has no virtual time and that is asked for.
    """
    name = _choose(asked)
    if not virtual_time:
        return name
    if name == NATIVE and not asked:
        name = UML
    kind, release = split(name)
    image = images.find_image(release) if kind == UML else None
    if image is None or not uml.has_virtual_time(image):
        raise CannotRun(
            "this kernel has no virtual time",
            where=name,
            expected="a User-Mode Linux kernel built with CONFIG_UML_TIME_TRAVEL_SUPPORT",
            next_step="lvslab kernel build makes one",
        )
    return name


def _choose(asked: str | None) -> str:
    if asked == "":
        raise BadInput("unknown kernel", where="--kernel", expected=_NAMES, found="nothing")
    name = asked or os.environ.get(VARIABLE) or ""
    where = "--kernel" if asked else VARIABLE
    if name in ("", NATIVE):
        return _native_or_uml(only_native=name == NATIVE)
    kind, release = split(name)
    if kind != UML or name.endswith(":"):
        raise BadInput("unknown kernel", where=where, expected=_NAMES, found=name)
    images.need_image(release, where=where)
    return name


def present_kernels() -> tuple[str, ...]:
    """Return every kernel that labs can run on here: native, then the User-Mode Linux ones. Raises CannotRun."""
    found = [] if native.why_not_native() else [NATIVE]
    found += dict.fromkeys(f"{UML}:{image.release}" if image.release else UML for image in images.images())
    if not found:
        raise CannotRun("no kernel to run on", next_step=images.INSTALL_HINT)
    return tuple(found)


def kernel_with_virtual_time(preferred: str | None = None) -> str | None:
    """Return the kernel `preferred` if it has virtual time, else the newest that has, or None if none has."""
    known = [f"{UML}:{image.release}" for image in images.images() if image.release and uml.has_virtual_time(image)]
    if preferred and split(preferred)[0] == UML:
        image = images.find_image(split(preferred)[1])
        if image is not None and f"{UML}:{image.release}" in known:
            return preferred
    return known[-1] if known else None


def split(name: str) -> tuple[str, str]:
    """Split a kernel's name into its kind and, for uml:RELEASE, the release; otherwise that is empty."""
    kind, _, release = name.partition(":")
    return kind, release


def _native_or_uml(*, only_native: bool) -> str:
    not_native = native.why_not_native()
    if not not_native:
        return NATIVE
    if only_native:
        raise CannotRun(
            "the running kernel cannot be used", found=not_native, next_step="use --kernel uml, or see lvslab doctor"
        )
    if images.find_image() is None:
        raise CannotRun(
            "no kernel to run on",
            found=f"native: {not_native}; uml: no User-Mode Linux",
            next_step=images.INSTALL_HINT,
        )
    return UML


def boot(
    kernel: str, name: str, *, memory_mib: int = uml.DEFAULT_MEMORY_MIB, virtual_time: bool = False
) -> RunningKernel:
    """Start a kernel (named as `choose_kernel` names it) for a lab called `name`; it comes up while the caller goes on.

    What dead labs left is removed first. Raises BadInput or CannotRun.
    """
    check_memory(memory_mib, "memory_mib")
    remove_leftovers()
    kind, release = split(kernel)
    if kind == NATIVE:
        return start_kernel(name, kind, native.native_program)
    image = images.need_image(release)
    running = start_kernel(
        name, kind, lambda folder: uml.uml_program(image, folder, memory_mib=memory_mib, virtual_time=virtual_time)
    )
    leave_bytecode()  # beside the kernel, which comes to the agent later
    return running
