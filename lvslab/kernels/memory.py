"""How much memory a kernel that is booted as a process needs."""

from __future__ import annotations

from lvslab.errors import BadInput

MIN_MEMORY_MIB = 96


def check_memory(memory_mib: object, where: str) -> None:
    """Raise BadInput for what is no memory of a kernel, or too little to boot with."""
    # True is an int, too.
    if type(memory_mib) is not int or memory_mib < MIN_MEMORY_MIB:
        expected = f"a whole number of MiB, at least {MIN_MEMORY_MIB}"
        raise BadInput("not the memory of a kernel", where=where, expected=expected, found=repr(memory_mib))
