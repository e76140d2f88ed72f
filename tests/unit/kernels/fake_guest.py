"""Stands in for a kernel with an agent: ``python3 fake_guest.py LINE WORD`` speaks the protocol and then does WORD."""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))

from lvslab.agent.wire import CREDIT_PAYLOAD, FrameReader, Kind, Message, MessageReader, WireFrame, message_frames

alarms: list[float] = []


def main(line: int, word: str) -> None:
    channel = socket.socket(fileno=line)
    if word == "silent":
        time.sleep(1000)
    if word == "alarms":
        time.sleep(0.2)  # one that came now would end this program, as it would end a kernel that boots
        signal.signal(signal.SIGALRM, lambda *_: alarms.append(time.monotonic()))
    limits = Path("/proc/self/limits").read_text()
    hello = {
        "release": "0.0-fake",
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "environment": list(os.environ),
        "core": limits.split("core file size")[1].split()[0],
    }
    channel.sendall(WireFrame(Kind.HELLO, 0, json.dumps(hello).encode()).encode())
    if word == "helper" and os.fork() == 0:
        time.sleep(1000)
    frames, messages = FrameReader(), MessageReader()
    while data := channel.recv(1 << 16):
        channel.sendall(WireFrame(Kind.CREDIT, 0, CREDIT_PAYLOAD.pack(len(data))).encode())
        for frame in frames.feed(data):
            message = messages.take(frame)
            if message is not None:
                answer(channel, frame.channel, message, word)


def answer(channel: socket.socket, number: int, message: Message, word: str) -> None:
    match word:
        case "exit":
            sys.exit("last words")
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "panic":
            sys.exit("noise\nKernel panic - not syncing: no memory\n[<60>] trace")
        case "nonsense":
            channel.sendall(b"\x63" * 20)
        case "malformed":
            channel.sendall(WireFrame(Kind.LAST, number, b"{").encode())
        case "alarms":
            channel.sendall(message_frames(number, Message({"alarms": len(alarms)})))
        case "refuse":
            channel.sendall(message_frames(number, Message({"error": {"errno": 28, "text": "No space left"}})))
        case _:
            channel.sendall(message_frames(number, message))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
