"""The papers' headline: with replies past the director, a cluster outgrows its director's network card.

First, in the kernel that was chosen, the director and each server have a card of the same rate, and 1 to so many
servers serve. Then the papers' own figures, where a kernel with virtual time is there: servers of 800 kB/s behind a
director with a card of 100 Mb/s (lvs-primer, section 3: some 10 to 20 servers by VS/NAT, more than 100 and beyond
1 Gb/s by VS/TUN and VS/DR).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lvslab.bench.result import Benchmark, Chart, Column, Curve, Mark, Part, Ratio, Value
from lvslab.bench.throughput import METHODS, SMALL_BUFFERS, Readings, Sweep, measure, medians
from lvslab.errors import BadInput
from lvslab.kernels.choose import UP_TIMEOUT_S, kernel_with_virtual_time
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Phase, open_kernel, quiet
from lvslab.topology.faults import UnusableError
from lvslab.topology.shaping import parse_rate

TITLE = "What a cluster serves, by forwarding method and number of servers"
PAYLOAD_BYTES, FRAME_BYTES = 1448, 1514
"""Of a full frame: what TCP carries with timestamps (RFC 7323), and what a card's rate counts."""
PAPERS_SERVER_BYTE_S = 800_000
PAPERS = Sweep(
    sizes=(1, 5, 10, 15, 20, 40, 80, 160),
    director_rate="100mbit",
    server_rate=f"{PAPERS_SERVER_BYTE_S * 8 * FRAME_BYTES // PAYLOAD_BYTES // 8 * 8}bit",
    seconds=0.3,
    warm_up_s=0.3,
    client_buffers=SMALL_BUFFERS,
)
GIGABIT = 1e9
FULL_SIZE = 10
TIMES = 9.5
"""With ten servers VS/DR is to serve so many times what VS/NAT does."""
AHEAD = 1.1
"""VS/DR is ahead of VS/NAT from so much more on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the first part is measured. With virtual time one round is exact, and takes no time."""

    kernel: str | None = None
    virtual_time: bool = False
    rate: str = "4mbit"
    servers: int = 10
    rounds: int = 3
    seconds: float = 2.0
    papers: bool = True

    @property
    def sweep(self) -> Sweep:
        sizes = tuple(range(1, self.servers + 1))
        rounds = 1 if self.virtual_time else self.rounds
        return Sweep(sizes, self.rate, self.rate, self.seconds, 1.0, rounds)


def run(settings: Settings, phase: Phase = quiet) -> Benchmark:
    """Measure both parts. Raises BadInput for a bad rate, CannotRun without a kernel, KernelFault."""
    bit_s = _rate(settings.rate)
    parts = [_own_cards(settings, bit_s, phase)]
    notes = []
    exact = kernel_with_virtual_time(settings.kernel) if settings.papers else None
    if exact is not None:
        parts.append(_papers_figures(exact, phase))
    elif settings.papers:
        notes.append("The papers' own figures need a kernel with virtual time: lvslab kernel build makes one.")
    chosen: dict[str, Value] = {
        "rate": settings.rate,
        "servers": settings.servers,
        "rounds": settings.sweep.rounds,
        "seconds": settings.seconds,
    }
    return Benchmark("headline", TITLE, tuple(parts), chosen, tuple(notes))


def _rate(text: str) -> int:
    try:
        bit_s = parse_rate(text)
    except UnusableError as error:
        raise BadInput(
            error.what, where="--rate", expected=error.expected, found=error.found, next_step=error.next_step
        ) from error
    if bit_s is None:
        raise BadInput("nothing to compare", where="--rate", expected="a rate, for example 4mbit", found=text)
    return bit_s


def _own_cards(settings: Settings, bit_s: int, phase: Phase) -> Part:
    with open_kernel(settings.kernel, name="bench", virtual_time=settings.virtual_time) as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        readings = measure(kernel, settings.sweep, phase)
    best = medians(readings)
    most = settings.servers
    ratios = {f"{method}_over_nat": best[method, most] / best["nat", most] for method in ("dr", "tun")}
    carried = bit_s * PAYLOAD_BYTES / FRAME_BYTES / 1e6
    facts = [
        f"With {most} servers VS/DR serves {ratios['dr_over_nat']:.1f} times what VS/NAT does, "
        f"VS/TUN {ratios['tun_over_nat']:.1f} times.",
        _crossover_in_words(best, settings.sweep.sizes),
        f"A card of {settings.rate} carries {carried:.3g} Mbit/s of answers; VS/NAT sends all of them through the "
        "director's.",
    ]
    if settings.sweep.rounds > 1:
        facts.append(f"Medians of {settings.sweep.rounds} rounds of {settings.seconds:g} s.")
    title = f"Director and servers, each with a card of {settings.rate}"
    aim = TIMES if most == FULL_SIZE else None
    aimed = tuple(
        Ratio(key, f"{most} servers, every card shaped: VS/{method} / VS/NAT", ratios[key], at_least=aim)
        for method, key in (("DR", "dr_over_nat"), ("TUN", "tun_over_nat"))
    )
    return _part("own_cards", title, kernel, settings.sweep, readings, tuple(facts), aimed, ratios)


def _papers_figures(kernel_name: str, phase: Phase) -> Part:
    with phase("the papers' figures"), open_kernel(kernel_name, name="bench", virtual_time=True) as kernel:
        with phase("boot"):
            kernel.wait_until_up(UP_TIMEOUT_S)
        readings = measure(kernel, PAPERS, phase)
    best = medians(readings)
    flat = max(best["nat", size] for size in PAPERS.sizes)
    facts = [
        f"VS/NAT stays at {flat / 1e6:.1f} Mbit/s, {flat / 8e6:.1f} MB/s: "
        f"{flat / 8 / PAPERS_SERVER_BYTE_S:.0f} servers fill the director's card, and more servers serve no more.",
        _crossover_in_words(best, PAPERS.sizes),
    ]
    values = {"nat_flat_mbit_s": flat / 1e6}
    for method in ("tun", "dr"):
        beyond = [size for size in PAPERS.sizes if best[method, size] > GIGABIT]
        values[f"{method}_most_mbit_s"] = max(best[method, size] for size in PAPERS.sizes) / 1e6
        if beyond:
            values[f"{method}_servers_beyond_gigabit"] = beyond[0]
            facts.append(f"VS/{method.upper()} passes 1 Gb/s with {beyond[0]} servers behind that card.")
        else:
            facts.append(f"VS/{method.upper()} does not pass 1 Gb/s with up to {PAPERS.sizes[-1]} servers.")
    title = "The papers' figures: servers of 800 kB/s, a director with a card of 100 Mb/s"
    beyond_gigabit = tuple(
        Ratio(
            f"papers_{method}_over_gigabit",
            f"the papers' figures, simulated: VS/{method.upper()} with {PAPERS.sizes[-1]} servers / 1 Gb/s",
            values[f"{method}_most_mbit_s"] * 1e6 / GIGABIT,
            at_least=1.0,
        )
        for method in ("dr", "tun")
    )
    return _part("papers", title, kernel, PAPERS, readings, tuple(facts), beyond_gigabit, values)


def _crossover(best: Mapping[tuple[str, int], float], sizes: tuple[int, ...]) -> int | None:
    """Return from which number of servers on VS/DR is ahead of VS/NAT; None if it never is."""
    return next((size for size in sizes if best["dr", size] > AHEAD * best["nat", size]), None)


def _crossover_in_words(best: Mapping[tuple[str, int], float], sizes: tuple[int, ...]) -> str:
    size = _crossover(best, sizes)
    if size is None:
        return f"VS/DR and VS/NAT serve alike with up to {sizes[-1]} servers."
    return f"VS/DR is ahead of VS/NAT from {_servers(size)} on."


def _servers(number: int) -> str:
    return f"{number} server{'s' * (number != 1)}"


def _part(
    key: str,
    title: str,
    kernel: RunningKernel,
    sweep: Sweep,
    readings: Readings,
    facts: tuple[str, ...],
    ratios: tuple[Ratio, ...],
    values: Mapping[str, float],
) -> Part:
    best = medians(readings)
    columns = (
        Column("servers", "servers"),
        *(Column(f"{method}_mbit_s", f"VS/{method.upper()} Mbit/s", 2) for method in METHODS),
        Column("dr_over_nat", "DR/NAT", 1),
    )
    rows = tuple(
        (size, *(best[method, size] / 1e6 for method in METHODS), best["dr", size] / best["nat", size])
        for size in sweep.sizes
    )
    curves = tuple(
        Curve(f"VS/{method.upper()}", tuple((size, best[method, size] / 1e6) for size in sweep.sizes))
        for method in METHODS
    )
    crossover = _crossover(best, sweep.sizes)
    marks = () if crossover is None else (Mark(crossover, f"VS/DR ahead from {_servers(crossover)} on"),)
    return Part(
        key,
        title,
        kernel=f"{kernel.kind} {kernel.release}",
        virtual_time=kernel.virtual_time,
        columns=columns,
        rows=rows,
        facts=facts,
        ratios=ratios,
        chart=Chart(title, "real servers", "Mbit/s of answers", curves, marks),
        values=dict(values),
        readings={f"{method}-{size}": values for (method, size), values in readings.items()},
    )
