"""Which kernel a lab runs on: what the user asked for, else native when it can, else uml."""

from __future__ import annotations

import os

from lvslab.errors import BadInput, CannotRun
from lvslab.kernels import native, uml
from lvslab.kernels.folder import remove_leftovers
from lvslab.kernels.start import RunningKernel, start_kernel

KINDS = ("native", "uml")
VARIABLE = "LVSLAB_KERNEL"
UP_TIMEOUT_S = 60.0


def choose_kernel(asked: str | None = None) -> str:
    """Return `native` or `uml`: `asked`, else LVSLAB_KERNEL, else what this machine can do.

    Raises BadInput for another name, CannotRun if the kernel asked for, or every kernel, is out of reach.
    """
    name = asked or os.environ.get(VARIABLE) or ""
    if name and name not in KINDS:
        where = "--kernel" if asked else VARIABLE
        raise BadInput("unknown kernel", where=where, expected="native or uml", found=name)
    not_native = "" if name == "uml" else native.why_not_native()
    if name == "native" and not_native:
        raise CannotRun(
            "the running kernel cannot be used", found=not_native, next_step="use --kernel uml, or see lvslab doctor"
        )
    if name != "uml" and not not_native:
        return "native"
    if uml.find_image() is None:
        raise CannotRun(
            "no kernel to run on",
            found=f"native: {not_native or 'not asked for'}; uml: no User-Mode Linux",
            next_step=uml.INSTALL_HINT,
        )
    return "uml"


def boot(kind: str, name: str, *, memory_mib: int = uml.DEFAULT_MEMORY_MIB) -> RunningKernel:
    """Start a kernel for a lab called `name`; it comes up while the caller goes on.

    What dead labs left is removed first. Raises CannotRun.
    """
    remove_leftovers()
    if kind == "native":
        return start_kernel(name, kind, lambda folder, line: native.native_program(folder, kernel_line=line))
    image = uml.find_image()
    if image is None:
        raise CannotRun("there is no User-Mode Linux kernel", next_step=uml.INSTALL_HINT)
    return start_kernel(
        name, kind, lambda folder, line: uml.uml_program(image, folder, kernel_line=line, memory_mib=memory_mib)
    )
