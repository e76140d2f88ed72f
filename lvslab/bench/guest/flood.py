"""Send datagrams from one node to another, as fast as can be or at a rate.

    flood.py SENDER RECEIVER ADDRESS PORT COUNT [RATE]

Prints as JSON the seconds that sending took after a few packets of warm-up, those for a packet of an undisturbed burst,
how many packets were sent, warm-up included, and how many frames the receiver's eth0 took in after it. In a kernel with
one processor, every packet has gone its whole way when sendto(2) returns. The receiver's socket is never read.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from lvslab.agent import syscalls
from lvslab.agent.namespaces import NETNS_FOLDER

PAYLOAD = bytes(64)
WARM_UP = 20
"""Packets that make neighbours known, and the connection to the director."""
SETTLED_S = 0.2
BURST = 50
UNDISTURBED = 0.1
"""Of the bursts, the one that so many of them undercut stands for those that nothing else interrupted."""


def enter(node: str) -> None:
    descriptor = os.open(NETNS_FOLDER / node, os.O_RDONLY)
    syscalls.setns(descriptor, syscalls.CLONE_NEWNET)
    os.close(descriptor)


def received(node: str) -> int:
    """Return the frames that eth0 of a node has received so far (proc(5): /proc/net/dev)."""
    enter(node)
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    return next(int(line.partition(":")[2].split()[1]) for line in lines if line.lstrip().startswith("eth0:"))


def datagrams(node: str) -> socket.socket:
    enter(node)
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def send_burst(sender: socket.socket, target: tuple[str, int]) -> float:
    """Return the seconds for a packet of one burst."""
    send = sender.sendto
    begun = time.perf_counter()
    for _ in range(BURST):
        send(PAYLOAD, target)
    return (time.perf_counter() - begun) / BURST


def send_paced(sender: socket.socket, target: tuple[str, int], count: int, rate: float) -> None:
    send, clock = sender.sendto, time.perf_counter
    begun = clock()
    for number in range(count):
        while clock() - begun < number / rate:
            time.sleep(0)
        send(PAYLOAD, target)


def main() -> None:
    from_node, to_node, address, port, count, *rate = sys.argv[1:]
    target = address, int(port)
    sink, sender = datagrams(to_node), datagrams(from_node)
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    sink.bind(("0.0.0.0", target[1]))  # noqa: S104 - inside a node of the lab
    send_paced(sender, target, WARM_UP, 100)
    time.sleep(SETTLED_S)
    before = received(to_node)
    found: dict[str, float] = {}
    begun = time.perf_counter()
    if rate:
        send_paced(sender, target, int(count), float(rate[0]))
    else:
        bursts = sorted(send_burst(sender, target) for _ in range(max(1, int(count) // BURST)))
        found["packet_s"] = bursts[int(UNDISTURBED * len(bursts))]
    found["seconds"] = time.perf_counter() - begun
    time.sleep(SETTLED_S)
    sys.stdout.write(json.dumps({**found, "sent": int(count) + WARM_UP, "received": received(to_node) - before}) + "\n")


if __name__ == "__main__":
    main()
