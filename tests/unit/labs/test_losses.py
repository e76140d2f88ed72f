"""Losses that a student is to notice: a counter that grows, a large request that nobody answers."""

from __future__ import annotations

from ipaddress import ip_address
from types import SimpleNamespace
from typing import cast

import pytest

from lvslab.labs.checks.counters import Counter, counter
from lvslab.labs.checks.sizes import LargeRequest, large_request
from lvslab.labs.view import View

CURL = {"answered": (0, "rs1\n...."), "refused": (7, ""), "silent": (28, "")}


def counting(*values: int) -> View:
    """A node whose counter has these values, one after another."""
    left = list(values)
    output = "TcpExt: SyncookiesSent IPReversePathFilter\nTcpExt: 7 {}\n"
    return cast(
        View,
        SimpleNamespace(
            topology=SimpleNamespace(nodes=(SimpleNamespace(name="rs1"),)),
            run=lambda *_: SimpleNamespace(output=output.format(left.pop(0))),
            call=lambda *_: (),
        ),
    )


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("name", ["TcpExtIPReversePathFilter", "IPReversePathFilter"])
def test_a_counter_is_compared_with_what_it_was_before_the_calls(name: str, *, grows: bool) -> None:
    wanted = Counter.model_validate({"node": "rs*", "counter": name, "grows": grows})
    assert counter(counting(3, 5), wanted).passed is grows
    assert counter(counting(3, 3), wanted).passed is not grows


def test_a_counter_that_the_kernel_does_not_have_is_no_fault_of_the_students() -> None:
    wanted = Counter.model_validate({"node": "rs1", "counter": "TcpExtNothing"})
    with pytest.raises(LookupError, match="no counter Nothing"):
        counter(counting(3), wanted)


@pytest.mark.parametrize(("answered", "holds"), [(True, "answered"), (False, "silent")])
@pytest.mark.parametrize("ended", CURL)
def test_a_refusal_is_neither_an_answer_nor_silence(ended: str, holds: str, *, answered: bool) -> None:
    asked: list[tuple[str, ...]] = []

    def run(_node: str, *argv: str) -> SimpleNamespace:
        asked.append(argv)
        status, output = CURL[ended] if argv[0] == "curl" else (0, "")
        return SimpleNamespace(status=status, output=output)

    service = SimpleNamespace(vip=ip_address("203.0.113.100"), port=8080)
    view = cast(View, SimpleNamespace(client="client", run=run, service=lambda _vip: service))
    finding = large_request(view, LargeRequest.model_validate({"answered": answered, "size_bytes": 5000}))
    assert finding.passed is (ended == holds)
    assert asked[0] == ("ip", "route", "flush", "cache")
    assert asked[1][-1] == "http://203.0.113.100:8080/"
    assert max(map(len, asked[1])) > 5000
