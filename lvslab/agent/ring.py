"""Memory-mapped packet rings, and the recorder that copies whole ring blocks of all nodes to one spool file.

The kernel fills the ring (TPACKET_V3, linux/if_packet.h, Documentation/networking/packet_mmap.rst); the
agent looks at nothing inside a block, so a captured frame costs the guest almost no Python. The host
takes the blocks apart later.
"""

from __future__ import annotations

import errno
import mmap
import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from lvslab.agent import bpf
from lvslab.agent.namespaces import Namespaces

SOL_PACKET = 263
PACKET_RX_RING = 5
PACKET_STATISTICS = 6
PACKET_VERSION = 10
TPACKET_V3 = 2
TP_STATUS_USER = 1
ETH_P_ALL = 0x0003
SO_ATTACH_FILTER = 26

MAX_BLOCK_BYTES = 1 << 16
MIN_BLOCK_BYTES = 1 << 14
BLOCKS_WANTED = 16
FRAME_BYTES = 1 << 11
RETIRE_MS = 30
"""A block that is not full goes to the reader after this time."""
LONGEST_FILLING_S = 2 * RETIRE_MS / 1000
"""The kernel retires a block at the second tick that finds it open (net/packet/af_packet.c)."""

SPOOL_MAGIC = b"LVSB"
_SPOOL_RECORD = struct.Struct("<4sIII")
_RING_REQUEST = struct.Struct("@7I")
_BLOCK_STATUS = struct.Struct("@I")
_BLOCK_COUNTS = struct.Struct("@III")
_STATISTICS = struct.Struct("@III")
_STATUS_OFFSET = 8
_COUNTS_OFFSET = 12
_FIRST_TIME = struct.Struct("@II")
_FIRST_TIME_OFFSET = 32
"""Of ts_first_pkt: seconds and nanoseconds."""

WriteBlock = Callable[[bytes, memoryview], None]
"""Takes a record's head and its block; the block is gone when it returns."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What the kernel says of one ring: frames recorded, and frames dropped because the ring was full."""

    recorded: int
    dropped: int


class Ring:
    """A capture of one namespace: of all its interfaces, or of one. Raises OSError, ENODEV if there is no such one."""

    def __init__(self, namespaces: Namespaces, node: str, index: int, ring_bytes: int, interface: str = "") -> None:
        self.node = node
        self._index = index
        self._block = 0
        self._block_bytes = block_bytes(ring_bytes)
        self._blocks = max(2, ring_bytes // self._block_bytes)
        self._recorded = 0
        self._dropped = 0
        with namespaces.inside(node):
            # Unbound, it hears every interface; what it hears before the ring is there, the kernel throws away.
            protocol = 0 if interface else socket.htons(ETH_P_ALL)
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, protocol)
        try:
            self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
            frames = self._block_bytes // FRAME_BYTES * self._blocks
            request = _RING_REQUEST.pack(self._block_bytes, self._blocks, FRAME_BYTES, frames, RETIRE_MS, 0, 0)
            self.socket.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
            self._memory = mmap.mmap(self.socket.fileno(), self._block_bytes * self._blocks)
            # A test client forked meanwhile is not to keep the ring; killing one that did has made a kernel panic.
            self._memory.madvise(mmap.MADV_DONTFORK)
            if interface:
                self.socket.bind((interface, ETH_P_ALL))
        except OSError:
            self.socket.close()
            raise

    @property
    def has_block(self) -> bool:
        """Whether the kernel has finished the block that is to be read next."""
        (status,) = _BLOCK_STATUS.unpack_from(self._memory, self._start + _STATUS_OFFSET)
        return bool(status & TP_STATUS_USER)

    @property
    def first_time(self) -> tuple[int, int]:
        """When the first frame of a finished block came, in seconds and nanoseconds."""
        seconds, nanoseconds = _FIRST_TIME.unpack_from(self._memory, self._start + _FIRST_TIME_OFFSET)
        return seconds, nanoseconds

    @property
    def _start(self) -> int:
        return self._block * self._block_bytes

    def take(self, write: WriteBlock) -> int:
        """Hand a finished block to `write` and the block back to the kernel; return the number of frames in it."""
        start = self._start
        count, _, length = _BLOCK_COUNTS.unpack_from(self._memory, start + _COUNTS_OFFSET)
        with memoryview(self._memory) as memory, memory[start : start + length] as block:
            write(_SPOOL_RECORD.pack(SPOOL_MAGIC, self._index, count, length), block)
        self.skip()
        return int(count)

    def drain(self, spool: int) -> int:
        """Append the finished blocks, once round the ring at most; return the number of frames in them."""
        frames = 0
        for _ in range(self._blocks):
            if not self.has_block:
                break
            frames += self.take(partial(_write_all, spool))
        return frames

    def skip(self) -> None:
        """Give the next block back to the kernel unread: one that is never taken would wake the reader for ever."""
        _BLOCK_STATUS.pack_into(self._memory, self._start + _STATUS_OFFSET, 0)
        self._block = (self._block + 1) % self._blocks

    def loss(self) -> Loss:
        """Return the totals so far; reading PACKET_STATISTICS resets the kernel's own counters."""
        recorded, dropped, _ = _STATISTICS.unpack(self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 12))
        self._recorded += recorded
        self._dropped += dropped
        return Loss(self._recorded, self._dropped)

    def refuse_more(self) -> None:
        """Record nothing from now on: a filter (packet(7), SO_ATTACH_FILTER) lets no frame in, and counts no loss."""
        refuse = bpf.BpfProgram([(bpf.RETURN, 0, 0, 0)])
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, refuse.description)

    def clear_error(self) -> None:
        """Forget that the interface went down: the kernel would otherwise wake the reader for ever."""
        self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def close(self) -> None:
        self._memory.close()
        self.socket.close()


def block_bytes(ring_bytes: int) -> int:
    """Return the size of a ring's blocks: a small ring still has several, so that one can fill while others drain."""
    size = MAX_BLOCK_BYTES
    while size > MIN_BLOCK_BYTES and ring_bytes // size < BLOCKS_WANTED:
        size >>= 1
    return size


def _write_all(fd: int, head: bytes, body: memoryview) -> None:
    written = os.writev(fd, (head, body))
    if written < len(head):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    while written < len(head) + len(body):
        written += os.write(fd, body[written - len(head) :])


class Recorder:
    """All rings of one capture, and the file they go to."""

    def __init__(self, namespaces: Namespaces, path: str, rings: list[tuple[str, int]]) -> None:
        self._path = path
        self._spool = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self.rings: list[Ring] = []
        self.failure: OSError | None = None
        self._closed = False
        try:
            for index, (node, ring_bytes) in enumerate(rings):
                self.rings.append(Ring(namespaces, node, index, ring_bytes))
        except OSError:
            self.close()
            raise

    def drain(self) -> int:
        return sum(self.drain_ring(ring) for ring in self.rings)

    def drain_ring(self, ring: Ring, _events: int = 0) -> int:
        """Write out what one ring holds; a spool file that takes no more is told when the recording ends."""
        if self._closed:  # by another event of the same round
            return 0
        try:
            return ring.drain(self._spool)
        except OSError as error:
            self.failure = self.failure or error
            ring.skip()
            return 0

    def close(self) -> None:
        self._closed = True
        for ring in self.rings:
            ring.close()
        os.close(self._spool)

    def remove(self) -> None:
        """Remove the file, if nobody is to read it."""
        with suppress(OSError):
            os.unlink(self._path)  # noqa: PTH108 - a path as the host gave it
