"""RR-DNS judged from questions and answers made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import dns.message
import dns.rrset
import pytest
from scapy.layers.inet import IP, TCP

from lvslab.topology.model import Protocol
from lvslab.traffic.outcome import Outcome
from lvslab.verify.evidence import NodeFacts
from lvslab.verify.result import Result, Verdict
from tests.unit.verify.scenes import evidence, judged, topology
from tests.unit.walk.build import Scene, udp

RR_DNS = """
name: rr-dns
networks: {clients: 203.0.113.0/24, servers: 198.18.0.0/24}
nodes:
  client[1-2]: {role: client, on: {clients: 10+}}
  resolver: {role: resolver, on: {clients: 53}}
  router: {role: router, on: {clients: 1, servers: 1}}
  ns: {role: name-server, on: {servers: 5}}
  rs[1-3]: {role: real-server, on: {servers: 11+}}
dns: [{name: www.cluster.example, server: ns, resolver: resolver, ttl: 30, servers: rs*}]
"""
ADDRESSES = {
    "client1": "203.0.113.10",
    "client2": "203.0.113.11",
    "resolver": "203.0.113.53",
    "ns": "198.18.0.5",
    "rs1": "198.18.0.11",
    "rs2": "198.18.0.12",
    "rs3": "198.18.0.13",
}
SERVERS = ("rs1", "rs2", "rs3")
MODEL = topology(RR_DNS)


def turned(by: int) -> tuple[str, ...]:
    return SERVERS[by:] + SERVERS[:by]


@dataclass
class Names:
    """A story of questions, answers and connections; everything crosses one link."""

    scene: Scene = field(default_factory=Scene)
    port: int = 20000
    calls: list[Outcome] = field(default_factory=list)
    """What the clients of the drive did."""

    def ask(self, who: str, whom: str, order: Sequence[str] | None) -> None:
        """Ask `whom`, who answers with servers in this order; None is no answer."""
        self._call(who, whom, 53, Protocol.UDP)
        query = dns.message.make_query("www.cluster.example", "A", id=self.port)
        question = udp((ADDRESSES[who], self.port), (ADDRESSES[whom], 53), query.to_wire())
        self.scene.send(f"{who}:eth0", f"{whom}:eth0", question)
        if order is None:
            return
        response = dns.message.make_response(query)
        # One set for each record: dnspython shuffles the records of a set when it writes them.
        for server in order:
            response.answer.append(dns.rrset.from_text("www.cluster.example.", 30, "IN", "A", ADDRESSES[server]))
        answer = udp((ADDRESSES[whom], 53), (ADDRESSES[who], self.port), response.to_wire())
        self.scene.send(f"{whom}:eth0", f"{who}:eth0", answer)

    def connect(self, who: str, server: str, data: bytes = b"rs\n", *, port: int = 80) -> None:
        self._call(who, server, port, Protocol.TCP)
        ends = {"src": ADDRESSES[who], "dst": ADDRESSES[server]}
        self._send(who, server, ends, TCP(sport=self.port, dport=port, flags="S", seq=self.port))
        back = {"src": ADDRESSES[server], "dst": ADDRESSES[who]}
        if data:
            answer = TCP(sport=port, dport=self.port, flags="PA", seq=9, ack=self.port + 1) / data
        else:
            answer = TCP(sport=port, dport=self.port, flags="RA", seq=0, ack=self.port + 1)
        self._send(server, who, back, answer)

    def _call(self, who: str, whom: str, port: int, protocol: Protocol) -> None:
        self.port += 1
        if who != "resolver":
            self.calls.append(Outcome(who, self.port, ADDRESSES[whom], port, "ok", 0.01, b"", protocol))

    def _send(self, sender: str, receiver: str, ends: dict[str, str], segment: Any) -> None:
        self.scene.send(f"{sender}:eth0", f"{receiver}:eth0", IP(bytes(IP(**ends) / segment)))

    def direct(self, *turns: int) -> Names:
        """Ask the name server itself and connect, once for each turn."""
        for turn in turns:
            self.ask("client1", "ns", turned(turn))
            self.connect("client1", turned(turn)[0])
        return self

    def cached(self, *, upstream: int = 1, orders: Sequence[int] = (0, 0, 0, 0)) -> Names:
        """Two clients ask the resolver, which asked the name server `upstream` times, and connect."""
        for index, order in enumerate(orders):
            client = f"client{index % 2 + 1}"
            self.ask(client, "resolver", turned(order))
            if index == 0:
                # The first question is what makes the resolver ask.
                for _ in range(upstream):
                    self.ask("resolver", "ns", turned(0))
            self.connect(client, turned(order)[0])
        return self

    def judge(
        self, *, outcomes: tuple[Outcome, ...] | None = None, facts: dict[str, NodeFacts] | None = None
    ) -> dict[str, Result]:
        return judged(evidence(MODEL, self.scene, outcomes=outcomes, facts=facts))


def test_a_healthy_name_passes_everywhere() -> None:
    results = Names().direct(0, 1, 2, 0).cached().judge()
    assert {name: results[name].verdict for name in results} == {
        "dns-rotation": Verdict.PASS,
        "dns-direct": Verdict.PASS,
        "dns-cache": Verdict.PASS,
        "checksums": Verdict.PASS,
        "capture-complete": Verdict.PASS,
    }
    assert results["dns-rotation"].seen == ("4 answers, first addresses: 198.18.0.11 2, 198.18.0.12 1, 198.18.0.13 1")
    assert results["dns-direct"].seen == "8 connections: rs1 6, rs2 1, rs3 1"
    assert "4 questions of 2 clients" in results["dns-cache"].seen
    assert "1 passed on to ns: all 3 answers from the cache gave rs1" in results["dns-cache"].seen


@pytest.mark.parametrize(("turns", "verdict"), [((0, 1, 2), "pass"), ((0, 2, 1), "pass"), ((0, 0), "fail")])
def test_answers_turn_by_one_in_either_direction(turns: tuple[int, ...], verdict: str) -> None:
    result = Names().direct(*turns).judge()["dns-rotation"]
    assert result.verdict == verdict
    if verdict == "fail":
        assert result.seen.startswith("after 198.18.0.11, 198.18.0.12, 198.18.0.13 came 198.18.0.11")


def test_one_answer_cannot_turn() -> None:
    assert Names().direct(0).judge()["dns-rotation"].verdict is Verdict.SKIP


def test_a_name_nobody_asked_for_cannot_be_judged() -> None:
    assert Names().judge()["dns-rotation"].verdict is Verdict.ERROR


def test_an_answer_with_too_few_addresses_fails() -> None:
    story = Names()
    story.ask("client1", "ns", ("rs1", "rs2"))
    result = story.judge()["dns-rotation"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "ns")
    assert result.seen == "client1 got 198.18.0.11, 198.18.0.12 instead of all 3 addresses"


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({}, "the name server on ns gives no answer"),
        ({"ns": NodeFacts()}, "no name server runs on ns"),
        ({"ns": NodeFacts(listening=frozenset({("udp", 53)}))}, "the name server on ns gives no answer"),
    ],
)
def test_a_question_without_an_answer_fails(facts: dict[str, NodeFacts], cause: str) -> None:
    story = Names()
    story.ask("client1", "ns", None)
    result = story.judge(facts=facts)["dns-rotation"]
    assert (result.verdict, result.where, result.cause) == (Verdict.FAIL, "ns:eth0", cause)


@pytest.mark.parametrize(
    ("forward", "cause"), [("0", "ip_forward is 0 on router"), ("1", "the question came as far as router, not to ns")]
)
def test_a_question_that_stops_on_the_way_is_explained_by_where_it_stops(forward: str, cause: str) -> None:
    story = Names()
    query = dns.message.make_query("www.cluster.example", "A").to_wire()
    question = udp((ADDRESSES["client1"], 5), (ADDRESSES["ns"], 53), query)
    story.scene.send("client1:eth0", "router:eth0", question)
    result = story.judge(facts={"router": NodeFacts(sysctls={"net.ipv4.ip_forward": forward})})["dns-rotation"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "router:eth0")
    assert result.cause.startswith(cause)


def unsent(client: str, server: str, port: int, protocol: Protocol) -> tuple[Outcome, ...]:
    return (Outcome(client, 0, ADDRESSES[server], port, "ENETUNREACH", 0.0, b"", protocol),)


def test_a_client_without_a_route_fails_where_it_is() -> None:
    outcomes = unsent("client1", "ns", 53, Protocol.UDP) + unsent("client1", "rs1", 80, Protocol.TCP)
    results = Names().cached().judge(outcomes=outcomes, facts={"client1": NodeFacts()})
    for name in ("dns-rotation", "dns-direct"):
        assert (results[name].verdict, results[name].where) == (Verdict.FAIL, "client1")
        assert results[name].cause.startswith("client1 has no default route")
        assert results[name].next == "on client1: ip route add default via 203.0.113.1"


DIRECT = {
    "not-the-first": ("rs2", b"rs2\n", "which was not the first address it was given", "RFC 6724"),
    "not-of-the-name": ("ns", b"ns\n", "which is no address of the name", "did not take the address from DNS"),
    "refused": ("rs1", b"", "connected to 198.18.0.11 (rs1) and got no answer", "likely: nothing listens"),
}


@pytest.mark.parametrize("case", DIRECT)
def test_a_connection_that_goes_astray_fails(case: str) -> None:
    server, data, seen, cause = DIRECT[case]
    story = Names()
    story.ask("client1", "ns", turned(0))
    story.connect("client1", server, data)
    result = story.judge()["dns-direct"]
    assert result.verdict is Verdict.FAIL
    assert seen in result.seen
    assert cause in result.cause


def test_an_answer_that_nobody_follows_fails() -> None:
    story = Names().direct(0)
    story.ask("client2", "ns", turned(1))
    result = story.judge()["dns-direct"]
    assert (result.verdict, result.where) == (Verdict.FAIL, "client2")
    assert result.seen == "client2 was given 198.18.0.12 and did not connect to it"


def test_without_answers_there_is_nothing_to_connect_to() -> None:
    assert Names().judge()["dns-direct"].verdict is Verdict.SKIP


CACHED: dict[str, tuple[Names, Verdict, str]] = {
    "one-server": (Names().cached(), Verdict.PASS, "all 3 answers from the cache gave rs1"),
    "first-in-another-order": (
        Names().cached(orders=(1, 0, 0, 0)),
        Verdict.PASS,
        "all 3 answers from the cache gave rs1",
    ),
    "rotating": (Names().cached(orders=(0, 1, 2, 0)), Verdict.FAIL, "3 different first addresses"),
    "no-cache": (Names().cached(upstream=4), Verdict.FAIL, "4 passed on to ns"),
    "nothing-upstream": (Names().cached(upstream=0), Verdict.FAIL, "resolver was asked 4 times and asked ns nothing"),
    "one-question": (Names().cached(orders=(0,)), Verdict.SKIP, "it takes two questions"),
    "no-question": (Names(), Verdict.SKIP, "it takes two questions"),
}


@pytest.mark.parametrize("case", CACHED)
def test_what_the_resolver_keeps(case: str) -> None:
    story, verdict, words = CACHED[case]
    result = story.judge(outcomes=tuple(story.calls))["dns-cache"]
    assert result.verdict is verdict
    assert words in result.seen + result.cause


def test_questions_beyond_the_ttl_prove_nothing() -> None:
    story = Names().cached()
    story.scene.wait(31)
    story.ask("client1", "resolver", turned(1))
    assert story.judge()["dns-cache"].verdict is Verdict.SKIP


@pytest.mark.parametrize(("asker", "asked"), [("client1", "resolver"), ("resolver", "ns")])
def test_a_silent_resolver_or_name_server_fails_the_cache(asker: str, asked: str) -> None:
    story = Names().cached()
    story.ask(asker, asked, None)
    result = story.judge()["dns-cache"]
    assert (result.verdict, result.where) == (Verdict.FAIL, f"{asked}:eth0")
    assert result.seen.startswith(f"{asker} asked {asked} and got no answer")


def test_a_resolver_without_a_route_is_named() -> None:
    story = Names().cached(upstream=0)
    result = story.judge(outcomes=tuple(story.calls), facts={"resolver": NodeFacts()})["dns-cache"]
    assert result.cause == "resolver has no default route, so no way to ns"


def test_a_cache_may_have_been_filled_before_unless_the_lab_is_new() -> None:
    story = Names().cached(upstream=0)
    result = story.judge()["dns-cache"]
    assert (result.verdict, "0 passed on to ns" in result.seen) == (Verdict.PASS, True)
    story.ask("client1", "resolver", None)
    assert story.judge()["dns-cache"].verdict is Verdict.FAIL


def test_what_others_ask_and_do_meanwhile_is_not_judged() -> None:
    story = Names().direct(0)
    own = list(story.calls)
    story.ask("client1", "ns", turned(1))
    story.connect("client1", "rs3")
    story.ask("client2", "resolver", None)
    others = len(story.calls)
    story.direct(2).cached()
    own += story.calls[others:]
    alone = story.judge(outcomes=tuple(own))
    assert {alone[name].verdict for name in ("dns-rotation", "dns-direct", "dns-cache")} == {Verdict.PASS}
    together = story.judge(outcomes=tuple(story.calls))
    assert {together[name].verdict for name in ("dns-direct", "dns-cache")} == {Verdict.FAIL}


def test_answers_do_not_turn_by_more_than_one_unless_others_asked() -> None:
    story = Names().direct(0, 2, 1)
    assert story.judge(outcomes=tuple(story.calls))["dns-rotation"].verdict is Verdict.PASS
    story = Names().direct(0)
    story.ask("client1", "ns", SERVERS[::-1])
    assert story.judge(outcomes=tuple(story.calls))["dns-rotation"].verdict is Verdict.FAIL


def test_without_a_resolver_there_is_nothing_to_cache() -> None:
    model = topology(RR_DNS.replace("resolver: resolver, ", ""))
    assert judged(evidence(model, Scene()))["dns-cache"].cause == "there is no resolver"
