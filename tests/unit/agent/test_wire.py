"""Frames and messages: however the stream is cut, the same messages come out; what makes no sense is said so."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lvslab.agent.wire import (
    HEADER,
    MAX_PAYLOAD_BYTES,
    FrameReader,
    Kind,
    Message,
    MessageReader,
    WireError,
    WireFrame,
    decode_message,
    encode_message,
    message_frames,
)

fields = st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans()), max_size=4)
messages = st.builds(Message, fields, st.lists(st.binary(max_size=3000), max_size=3).map(tuple))


def read(reader: FrameReader, joiner: MessageReader, data: bytes) -> list[Message]:
    return [message for frame in reader.feed(data) if (message := joiner.take(frame)) is not None]


@given(st.lists(messages, min_size=1, max_size=4), st.data())
def test_any_split_of_the_stream_gives_the_same_messages(sent: list[Message], data: st.DataObject) -> None:
    stream = b"".join(message_frames(number, message) for number, message in enumerate(sent))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    reader, joiner = FrameReader(), MessageReader()
    received = [message for piece in pieces for message in read(reader, joiner, piece)]
    assert received == sent


@given(messages, messages)
def test_messages_of_two_channels_may_be_interleaved(one: Message, other: Message) -> None:
    frames = [list(FrameReader().feed(message_frames(number, message))) for number, message in ((1, one), (2, other))]
    joiner = MessageReader()
    received = {}
    while any(frames):
        for queue in frames:
            if queue and (message := joiner.take(frame := queue.pop(0))):
                received[frame.channel] = message
    assert received == {1: one, 2: other}


def test_no_frame_is_longer_than_the_window_allows() -> None:
    stream = message_frames(1, Message({}, (bytes(10_000),)))
    assert max(len(frame.payload) for frame in FrameReader().feed(stream)) == MAX_PAYLOAD_BYTES


@given(st.binary(max_size=200))
def test_any_bytes_are_frames_or_an_error(data: bytes) -> None:
    reader = FrameReader()
    try:
        frames = list(reader.feed(data))
    except WireError:
        return
    assert sum(HEADER.size + len(frame.payload) for frame in frames) <= len(data)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(WireError, match="kind 99"):
        list(FrameReader().feed(HEADER.pack(99, 0, 0)))


def head(text: bytes) -> bytes:
    return struct.pack("!I", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        head(b""),
        head(b"{"),
        head(b"[]"),
        head(b"{}"),
        head(b"\xff\xfe"),
        head(b'{"fields": {}}'),
        head(b'{"fields": 7, "blobs": []}'),
        head(b'{"fields": {}, "blobs": ["x"]}'),
        head(b'{"fields": {}, "blobs": [5]}') + b"1234",
        head(b'{"fields": {}, "blobs": [3]}') + b"1234",
        struct.pack("!I", 1 << 31) + b"{}",
    ],
)
def test_a_malformed_message_is_an_error(data: bytes) -> None:
    with pytest.raises(WireError):
        decode_message(data)
    with pytest.raises(WireError):
        MessageReader().take(WireFrame(Kind.LAST, 1, data))


@given(messages)
def test_encoding_is_undone(message: Message) -> None:
    assert decode_message(encode_message(message)) == message
    assert json.loads(json.dumps(message.fields)) == message.fields
