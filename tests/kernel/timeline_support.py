"""One connection at its director, made to be watched: the states it went through, and the packets that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.report.connections_json import timeline_document
from lvslab.topology import load_topology
from lvslab.traffic.pacing import paced
from lvslab.traffic.watched import Ending
from tests.kernel.support import lab_in

DEFENCE_PERIOD_S = 1.1
SHORTEST_SPACING_NS = 20 * 10**6
"""At the pace of the cables the shortest TCP packet takes 26 ms."""
TIMES_S = {
    "SYN_RECV": 60,
    "SYNACK": 120,
    "ESTABLISHED": 900,
    "FIN_WAIT": 120,
    "TIME_WAIT": 120,
    "CLOSE_WAIT": 60,
    "CLOSE": 10,
    "INIT1": 4,
    **dict.fromkeys(("C-SENT", "C-REPLIED", "S-SENT", "S-RECEIVED", "S-ACK-SENT", "CLOSED"), 61),
}
"""How long the kernel keeps an entry in each state, TCP's and SCTP's (ip_vs_proto_tcp.c, ip_vs_proto_sctp.c)."""


@dataclass(frozen=True)
class Timeline:
    """What the command says, as JSON."""

    document: dict[str, Any]

    @property
    def packets(self) -> dict[int, str]:
        events = [event for event in self.document["events"] if event["kind"] == "packet"]
        return {event["frame"]: f"{'←' if event['reply'] else '→'} {event['packet']}" for event in events}

    @property
    def states(self) -> list[tuple[str, list[str]]]:
        """Each new state, and the packets that may have made it."""
        found = []
        for event in self.document["events"]:
            if event["kind"] == "change" and event["after"] and not event["after"]["template"]:
                before, after = event["before"] or {"state": None}, event["after"]
                assert after["expires_s"] <= TIMES_S[after["state"]]
                if before["state"] != after["state"]:
                    found.append((after["state"], [self.packets[frame] for frame in event["frames"]]))
        return found

    @property
    def is_gapless(self) -> bool:
        return int(self.document["longest_gap_ns"]) < SHORTEST_SPACING_NS


def watched(
    kernel: RunningKernel,
    name: str,
    ending: Ending = Ending.SERVER,
    *,
    until_gone: bool = False,
    vs: Mapping[str, int] | None = None,
    params: Mapping[str, str] | None = None,
) -> Timeline:
    """Make one connection in a lab of its own; `vs` are sysctls of the director, below net.ipv4.vs."""
    topology = load_topology(name, params=params or {})
    (service,) = topology.services
    with lab_in(kernel, paced(topology, service)) as lab:
        set_vs(lab, **(vs or {}))
        return Timeline(timeline_document(lab.watch_connection(service, ending, until_gone=until_gone)))


def set_vs(lab: Lab, **values: int) -> None:
    """Set sysctls below net.ipv4.vs, and wait until they are in force: defences look at theirs once a second.

    Source: net/netfilter/ipvs/ip_vs_ctl.c, DEFENSE_TIMER_PERIOD.
    """
    for key, value in values.items():
        done = lab.node("director").run("sysctl", "-qw", f"net.ipv4.vs.{key}={value}")
        assert done.status == 0, done.output
    if values:
        lab.sleep(2 * DEFENCE_PERIOD_S)


def agrees(found: Timeline, wanted: list[tuple[str, str]]) -> None:
    """Assert that the states are those wanted, each made by its packet, or some of them if the readings had gaps."""
    states = [state for state, _ in wanted]
    seen = [state for state, _ in found.states]
    assert [state for state in states if state in seen] == seen
    assert seen[-1] == states[-1]
    makers = dict(wanted)
    for state, candidates in found.states:
        assert makers[state] in candidates
    if found.is_gapless:
        assert found.states == [(state, [packet]) for state, packet in wanted]
