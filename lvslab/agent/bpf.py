"""Classic BPF programs (linux/filter.h, linux/bpf_common.h), as socket filters and seccomp(2) take them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06

Step = tuple[int, int, int, int]
"""What to do, how many steps to leave out if true, and if false, and the constant."""
_STEP = struct.Struct("@HBBI")
_PROGRAM = struct.Struct("@HP")


class BpfProgram:
    """A program in memory. The kernel reads it while it is being attached: keep this object until then."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = ctypes.create_string_buffer(b"".join(_STEP.pack(*step) for step in steps))
        self.description = _PROGRAM.pack(len(steps), ctypes.addressof(self._steps))
        """struct sock_fprog."""
