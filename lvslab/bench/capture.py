"""How many packets a second are recorded without loss: lvslab's rings, tcpdump and scapy's sniffer, side by side.

Datagrams go from a client through a director, as plain IP, to a server, at growing rates; each packet is seen at four
interfaces. A recorder goes up the rates until it loses a frame. What it takes of the processor is its own processes'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from statistics import median

from lvslab.bench.director import PLAIN_PORT, topology
from lvslab.bench.in_kernel import OUTSIDE, run_program
from lvslab.bench.pairs import ratio
from lvslab.bench.result import Benchmark, Chart, Column, Curve, Part, Ratio, Value, medians_of
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, Phase, open_kernel, quiet, running_lab

TITLE = "Recording packets: how many a second without loss, and what a frame costs"
OWN, TCPDUMP, SCAPY = "lvslab", "tcpdump", "scapy"
NODES = ("client", "director", "rs1")
FRAMES_PER_PACKET = 4
"""client out, director in and out, server in."""
HERTZ = 100
"""Of the times in proc(5), stat: sysconf(_SC_CLK_TCK) wherever Linux runs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Rates in packets a second, `seconds` at each."""

    kernel: str | None = None
    rates: tuple[int, ...] = (250, 500, 1000, 2000, 4000, 8000, 16000)
    seconds: float = 1.0
    rounds: int = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """One recording: packets sent in so many seconds, frames recorded, and the recorder's processor time."""

    packets: int
    expected: int
    """Frames, those of the warm-up included."""
    seconds: float
    recorded: int
    recording_s: float

    @property
    def rate(self) -> float:
        return self.packets / self.seconds

    @property
    def complete(self) -> bool:
        return self.recorded >= self.expected

    @property
    def share(self) -> float:
        return self.recorded / self.expected

    @property
    def frame_s(self) -> float:
        """Return the cost of a frame; the kernel counts processor time in ticks, so that none means less than one."""
        return max(self.recording_s, 1 / HERTZ) / max(1, self.recorded)


Recorder = Callable[[Lab, RunningKernel, int, int], Reading]
"""Records so many packets, sent at so many a second."""


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Measure all recorders in one kernel. Raises CannotRun without one, KernelFault."""
    found: dict[str, list[list[Reading]]] = {name: [] for name in RECORDERS}
    with open_kernel(settings.kernel, name="bench") as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        with running_lab(kernel, topology("nat")) as lab:
            for number in range(1, settings.rounds + 1):
                for name, recorder in RECORDERS.items():
                    with phase(f"{name}, round {number} of {settings.rounds}"):
                        found[name].append(list(_until_loss(recorder, lab, kernel, settings)))
    chosen: dict[str, Value] = {
        "rates": ",".join(map(str, settings.rates)),
        "seconds": settings.seconds,
        "rounds": settings.rounds,
    }
    return Benchmark("capture", TITLE, (_part(kernel, found, settings),), chosen)


def _until_loss(recorder: Recorder, lab: Lab, kernel: RunningKernel, settings: Settings) -> Iterator[Reading]:
    for rate in settings.rates:
        reading = recorder(lab, kernel, int(rate * settings.seconds), rate)
        yield reading
        if not reading.complete:
            return


def _flood_words(lab: Lab, packets: int, rate: int) -> tuple[str, ...]:
    server = str(lab.topology.node("rs1").own_addresses[0])
    return "client", "rs1", server, str(PLAIN_PORT), str(packets), str(rate)


def _own(lab: Lab, kernel: RunningKernel, packets: int, rate: int) -> Reading:
    before = agent_s(kernel)
    with lab.record() as recording:
        flood = run_program(kernel, "flood", *_flood_words(lab, packets, rate))
    taken = agent_s(kernel) - before
    mine = PLAIN_PORT.to_bytes(2, "big")
    recorded = sum(frame.data[36:38] == mine for frame in recording.finished().frames)
    return Reading(packets, flood["sent"] * FRAMES_PER_PACKET, flood["seconds"], recorded, taken)


def agent_s(kernel: RunningKernel) -> float:
    """Return the processor time that the agent has taken so far (proc(5): stat, utime and stime)."""
    (text,) = kernel.channel.request("read_files", files=[(OUTSIDE, "/proc/self/stat")]).blobs
    fields = text.decode().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / HERTZ


def _by_program(kind: str) -> Recorder:
    def record(lab: Lab, kernel: RunningKernel, packets: int, rate: int) -> Reading:
        words = kind, ",".join(NODES), "/tmp", *_flood_words(lab, packets, rate)  # noqa: S108 - the guest's own
        done = run_program(kernel, "recorders", *words)
        expected = done["sent"] * FRAMES_PER_PACKET
        return Reading(packets, expected, done["seconds"], done["recorded"], done["recording_s"])

    return record


RECORDERS: Mapping[str, Recorder] = {OWN: _own, TCPDUMP: _by_program(TCPDUMP), SCAPY: _by_program(SCAPY)}


def best_rate(readings: list[Reading]) -> float:
    """Return the highest rate that was recorded without loss, 0 if none was."""
    return max((reading.rate for reading in readings if reading.complete), default=0.0)


def _part(kernel: RunningKernel, found: Mapping[str, list[list[Reading]]], settings: Settings) -> Part:
    rates = {name: [best_rate(readings) for readings in rounds] for name, rounds in found.items()}
    costs = {name: [readings[-1].frame_s for readings in rounds] for name, rounds in found.items()}
    shares = {name: median(readings[-1].share for readings in rounds) for name, rounds in found.items()}
    rows = tuple(
        (
            name,
            median(rates[name]),
            max(each.rate for each in chain.from_iterable(found[name])),
            100 * shares[name],
            1e6 * median(costs[name]),
        )
        for name in found
    )
    ratios = (
        Ratio("own_cost_over_tcpdump", "processor time a frame: lvslab / tcpdump", ratio(costs, OWN, TCPDUMP)),
        Ratio("own_cost_over_scapy", "processor time a frame: lvslab / scapy", ratio(costs, OWN, SCAPY)),
    )
    curves = tuple(
        Curve(name, tuple((each.rate, 100 * each.share) for each in rounds[0])) for name, rounds in found.items()
    )
    return Part(
        "capture",
        TITLE,
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=False,
        columns=(
            Column("recorder", "recorder"),
            Column("lossless", "packets/s, all recorded", 0),
            Column("tried", "packets/s tried", 0),
            Column("share", "% of frames then", 1),
            Column("frame_us", "µs a frame", 1),
        ),
        rows=rows,
        facts=(
            f"Each packet is seen at {FRAMES_PER_PACKET} interfaces. The rate doubles until a frame is lost, or until "
            "the kernel carries no more. The cost is the recording processes' own, at the highest rate tried; what the "
            "kernel copies for them is the sender's.",
            f"{medians_of(settings.rounds)}.",
        ),
        chart=Chart("Frames recorded", "packets a second", "% of frames", curves),
        ratios=ratios,
        values={f"{name}_lossless": median(values) for name, values in rates.items()},
        readings={
            f"{name}-{what}": values for what, of in (("rate", rates), ("cost", costs)) for name, values in of.items()
        },
    )
