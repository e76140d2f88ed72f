"""The bytes between host and agent: frames on a stream, and messages made of frames.

A frame is ``kind:u8 channel:u64 length:u16 payload``. A message (a JSON object and any number of byte
strings) travels as PART frames closed by one LAST frame; its channel is the number of the request, so
that answers may overlap. CREDIT frames (agent to host, payload: u32 bytes consumed) let the host keep
less than a window unacknowledged: a User-Mode Linux serial line goes deaf for good after a burst of
about 3.9 kB towards the guest.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

HEADER = struct.Struct("!BQH")
CREDIT_PAYLOAD = struct.Struct("!I")
GRANT_PAYLOAD = struct.Struct("!I")
SIZE_PAYLOAD = struct.Struct("!HH")
MAX_PAYLOAD_BYTES = 1024
UML_WINDOW_BYTES = 2048
CREDIT_AFTER_BYTES = 512
CLIENT_SHIFT = 32
"""The broker numbers its clients: the upper bits of a channel on the line, the client's own channel the lower."""
CHANNELS_PER_CLIENT = 1 << CLIENT_SHIFT
_LENGTH = struct.Struct("!I")

STDIN, STDOUT, STDERR = 0, 1, 2
"""The streams of a session."""
INPUT_WINDOW_BYTES = 8192
"""What a client may send of a session's input before the program has taken any of it."""
OUTPUT_WINDOW_BYTES = 1 << 18
"""What the agent may send of a session's output before the client has taken any of it."""
GRANT_AFTER_PART = 4
"""Either side grants again once it has taken this part of a window: a grant per frame would fill the line."""


class WireError(ValueError):
    """What arrived is no frame, or no message."""


class Kind(IntEnum):
    HELLO = 1
    """Agent to host, once: the line is open. Payload: JSON, the kernel's release and more."""
    PART = 2
    LAST = 3
    CREDIT = 4
    GONE = 5
    """Broker to client, last: the kernel or the agent ended. Payload: the reason in words."""
    STREAM = 6
    """Both ways, of a session: the stream's number, then data; no data ends the stream."""
    GRANT = 7
    """Both ways, of a session: so many more bytes may be sent (GRANT_PAYLOAD)."""
    EXIT = 8
    """Agent to client, a session's last: JSON with the program's exit status."""
    SIGNAL = 9
    """Client to agent: the number of a signal for the session's program, in one byte."""
    RESIZE = 10
    """Client to agent: rows and columns of the session's terminal (SIZE_PAYLOAD)."""
    HANG_UP = 11
    """Broker to agent: the client is gone, its sessions shall end. The channel is the client's first."""
    STAY = 12
    """Client to broker: keep the lab when this client leaves, and let others in."""
    STOP = 13
    """Client to broker: end the lab."""
    FLOW = 14
    """Agent to broker, where time is virtual: how it is to flow from now on (one byte, a Flow)."""


class Flow(IntEnum):
    """How virtual time is to flow while the kernel has nothing to do."""

    STAND = 0
    """Not at all: nobody waits for anything."""
    FREE = 1
    """At once to the next timer: somebody waits."""
    PACED = 2
    """As fast as a wall clock: somebody sits at a terminal."""


@dataclass(frozen=True, slots=True)
class WireFrame:
    kind: Kind
    channel: int
    payload: bytes

    def encode(self) -> bytes:
        return HEADER.pack(self.kind, self.channel, len(self.payload)) + self.payload


@dataclass(frozen=True, slots=True)
class Message:
    """One request or answer: a small JSON object, and bytes that JSON cannot carry."""

    fields: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


class FrameReader:
    """Cuts a byte stream back into frames; feed it whatever arrived."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[WireFrame]:
        """Yield the frames that `data` completes. Raises WireError."""
        self._buffer += data
        position = 0
        while len(self._buffer) - position >= HEADER.size:
            number, channel, length = HEADER.unpack_from(self._buffer, position)
            kind = _kind(number)
            end = position + HEADER.size + length
            if len(self._buffer) < end:
                break
            yield WireFrame(kind, channel, bytes(self._buffer[position + HEADER.size : end]))
            position = end
        del self._buffer[:position]


def _kind(number: int) -> Kind:
    try:
        return Kind(number)
    except ValueError:
        raise WireError(f"there is no frame of kind {number}") from None


@dataclass(slots=True)
class MessageReader:
    """Joins PART and LAST frames into messages, per channel."""

    _parts: dict[int, list[bytes]] = field(default_factory=dict)

    def take(self, frame: WireFrame) -> Message | None:
        """Return the message that `frame` completes, or None. Raises WireError."""
        parts = self._parts.setdefault(frame.channel, [])
        parts.append(frame.payload)
        if frame.kind is not Kind.LAST:
            return None
        del self._parts[frame.channel]
        return decode_message(b"".join(parts))


def encode_message(message: Message) -> bytes:
    blobs: Sequence[bytes] = message.blobs
    head = json.dumps({"fields": message.fields, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"".join((_LENGTH.pack(len(head)), head, *blobs))


def decode_message(data: bytes) -> Message:
    """Undo :func:`encode_message`. Raises WireError."""
    try:
        (head_bytes,) = _LENGTH.unpack_from(data)
        position = _LENGTH.size + head_bytes
        head = json.loads(data[_LENGTH.size : position])
        blobs = []
        for length in head["blobs"]:
            blobs.append(data[position : position + length])
            position += length
        fields = dict(head["fields"])
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise WireError(f"a message makes no sense: {error}") from error
    if position != len(data):
        raise WireError(f"a message has {len(data)} bytes and says it has {position}")
    return Message(fields, tuple(blobs))


def message_frames(channel: int, message: Message) -> bytes:
    """Return the message as bytes for the stream, cut into frames."""
    data = encode_message(message)
    pieces = [data[i : i + MAX_PAYLOAD_BYTES] for i in range(0, len(data), MAX_PAYLOAD_BYTES)]
    frames = [WireFrame(Kind.PART, channel, piece).encode() for piece in pieces[:-1]]
    frames.append(WireFrame(Kind.LAST, channel, pieces[-1]).encode())
    return b"".join(frames)
