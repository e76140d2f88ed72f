"""Record what some nodes' interfaces see by tcpdump or by scapy while datagrams are sent, and count what was recorded.

    recorders.py tcpdump|scapy NODE,NODE FOLDER SENDER RECEIVER ADDRESS PORT COUNT RATE

Prints frames recorded, seconds of processor time that the recording processes took for them, and what the flood found,
as JSON.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from lvslab.bench.guest.flood import enter

READY = b"listening on"
SETTLED_S = 1.5
"""tcpdump has the kernel hand packets over within a second (pcap(3PCAP): packet buffer timeout)."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """A process that records; `stop` ends it and returns the frames it recorded."""

    pid: int
    stop: Callable[[], int]

    def processor_s(self) -> float:
        """Return the processor time it has taken so far (proc(5): stat, utime and stime)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tcpdump(node: str, port: str, output: Path) -> Recorder:
    """Start tcpdump on all interfaces of a node."""
    argv = ["tcpdump", "-i", "any", "-n", "-B", "8192", "-w", str(output), "udp", "port", port]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, preexec_fn=lambda: enter(node))  # noqa: PLW1509
    stderr = process.stderr
    if stderr is None or READY not in stderr.readline() + stderr.readline():
        raise RuntimeError(f"tcpdump does not listen in {node}")

    def stop() -> int:
        process.send_signal(signal.SIGINT)
        told = stderr.read().decode()
        process.wait()
        found = re.search(r"(\d+) packets? captured", told)
        return int(found[1]) if found else 0

    return Recorder(process.pid, stop)


def scapy(node: str, port: str, output: Path) -> Recorder:
    """Fork a process that sniffs on all interfaces of a node."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        enter(node)
        from scapy.config import conf
        from scapy.sendrecv import AsyncSniffer

        conf.ifaces.reload()
        wanted = int(port)
        counted = [0]

        def count(packet: object) -> None:
            counted[0] += getattr(packet, "dport", 0) == wanted

        begun = partial(os.write, told, b"x")
        sniffer = AsyncSniffer(iface=_interfaces(), store=False, prn=count, started_callback=begun)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        sniffer.start()
        signal.sigwait({signal.SIGINT})
        sniffer.stop()
        output.write_text(str(counted[0]))
        os._exit(0)
    os.read(ready, 1)

    def stop() -> int:
        os.kill(pid, signal.SIGINT)
        os.waitpid(pid, 0)
        return int(output.read_text())

    return Recorder(pid, stop)


def _interfaces() -> list[str]:
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
    names = [line.partition(":")[0].strip() for line in lines]
    return [name for name in names if name.startswith("eth")]


def main() -> None:
    kind, nodes, folder, *flood = sys.argv[1:]
    start = {"tcpdump": tcpdump, "scapy": scapy}[kind]
    if kind == "scapy":
        import_module("scapy.all")  # once for all processes
    port = flood[3]
    recorders = [start(node, port, Path(folder) / f"{kind}-{node}") for node in nodes.split(",")]
    before = sum(recorder.processor_s() for recorder in recorders)
    program = str(Path(__file__).with_name("flood.py"))
    done = subprocess.run([sys.executable, "-B", program, *flood], check=True, capture_output=True)
    time.sleep(SETTLED_S)
    seconds = sum(recorder.processor_s() for recorder in recorders) - before
    recorded = sum(recorder.stop() for recorder in recorders)
    sys.stdout.write(json.dumps({**json.loads(done.stdout), "recorded": recorded, "recording_s": seconds}) + "\n")


if __name__ == "__main__":
    main()
