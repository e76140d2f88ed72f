"""The built-in name server, with dnspython as the witness of what it puts on the wire."""

from __future__ import annotations

from ipaddress import IPv4Address

import dns.flags
import dns.message
import dns.rcode
import pytest

from lvslab.agent.name_server import MAX_DATAGRAM_BYTES, MIN_DATAGRAM_BYTES, RoundRobinName
from lvslab.sandbox.name_records import question_and_records
from lvslab.topology.model import NameService

NAME = "www.cluster.example"


def served(count: int) -> RoundRobinName:
    addresses = [IPv4Address("198.18.0.11") + number for number in range(count)]
    records = tuple((f"rs{number}", address) for number, address in enumerate(addresses, 1))
    service = NameService(NAME, "ns", None, 30, 80, records)
    question, *encoded = question_and_records(service)
    return RoundRobinName(question, encoded)


def query(name: str = NAME, kind: str = "A", *, edns: int | None = 1232) -> dns.message.Message:
    use = {"use_edns": 0, "payload": edns} if edns is not None else {}
    return dns.message.make_query(name, kind, **use)  # type: ignore[arg-type]


def ask(name: RoundRobinName, question: dns.message.Message, *, over_tcp: bool = False) -> dns.message.Message:
    wire = question.to_wire()
    answer = dns.message.from_wire(name.answer(wire, None if over_tcp else name.datagram_limit(wire)))
    assert answer.id == question.id
    return answer


def addresses(answer: dns.message.Message) -> list[str]:
    return [item.address for record in answer.answer for item in record]


def test_each_answer_is_the_one_before_turned_by_one() -> None:
    name = served(3)
    turns = [addresses(ask(name, query())) for _ in range(4)]
    first = ["198.18.0.11", "198.18.0.12", "198.18.0.13"]
    assert turns == [first, first[1:] + first[:1], first[2:] + first[:2], first]


def test_an_answer_is_authoritative_and_carries_the_ttl() -> None:
    answer = ask(served(1), query())
    assert answer.flags & dns.flags.AA
    assert answer.flags & dns.flags.RD
    assert answer.rcode() == dns.rcode.NOERROR
    assert [record.ttl for record in answer.answer] == [30]


@pytest.mark.parametrize(
    ("count", "edns", "whole"),
    [(2, None, True), (29, None, True), (30, None, False), (74, 1232, True), (75, 1232, False), (75, 4096, False)],
)
def test_what_does_not_fit_a_datagram_is_asked_for_again_over_tcp(count: int, edns: int | None, whole: bool) -> None:
    name = served(count)
    question = query(edns=edns)
    wire = question.to_wire()
    limit = name.datagram_limit(wire)
    assert limit == (MIN_DATAGRAM_BYTES if edns is None else MAX_DATAGRAM_BYTES)
    assert len(name.answer(wire, limit)) <= limit
    answer = ask(served(count), question)
    assert bool(answer.flags & dns.flags.TC) is not whole
    assert len(addresses(answer)) == (count if whole else 0)


def test_a_cut_answer_is_not_a_turn() -> None:
    name = served(256)
    for first in ("198.18.0.11", "198.18.0.12"):
        assert ask(name, query()).flags & dns.flags.TC
        over_tcp = addresses(ask(name, query(), over_tcp=True))
        assert over_tcp[0] == first
        assert len(over_tcp) == 256


def test_capitals_are_repeated_as_asked() -> None:
    answer = ask(served(2), query("WwW.cluster.EXAMPLE"))
    assert str(answer.question[0].name) == "WwW.cluster.EXAMPLE."
    assert len(addresses(answer)) == 2


@pytest.mark.parametrize("kind", ["AAAA", "TXT"])
def test_of_another_kind_the_name_has_no_records(kind: str) -> None:
    """Not refused: a resolver would ask again and again for an IPv6 address, and its client wait for it."""
    name = served(2)
    answer = ask(name, query(NAME, kind))
    assert (answer.rcode(), answer.answer) == (dns.rcode.NOERROR, [])
    assert addresses(ask(name, query())) == ["198.18.0.11", "198.18.0.12"]


@pytest.mark.parametrize(
    ("name", "kind"), [("other.cluster.example", "A"), ("other.cluster.example", "AAAA"), (".", "NS")]
)
def test_another_name_is_refused(name: str, kind: str) -> None:
    answer = dns.message.from_wire(served(2).answer(query(name, kind).to_wire(), MAX_DATAGRAM_BYTES))
    assert answer.rcode() == dns.rcode.REFUSED
    assert not answer.answer
