"""The bytes between host and agent: frames on a stream, and messages made of frames.

A frame is ``kind:u8 channel:u32 length:u16 payload``. A message (a JSON object and any number of byte
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

HEADER = struct.Struct("!BIH")
CREDIT_PAYLOAD = struct.Struct("!I")
MAX_PAYLOAD_BYTES = 1024
UML_WINDOW_BYTES = 2048
CREDIT_AFTER_BYTES = 512
_LENGTH = struct.Struct("!I")


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
