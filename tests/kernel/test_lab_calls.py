"""What labs ask of several calls at once: who is first to differ, how many answer, how much comes."""

from __future__ import annotations

import pytest

from lvslab.labs.registry import Observed, shipped_registry
from lvslab.labs.view import View
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

TALKATIVE = "exec 3<>/dev/tcp/$0/80; for ((i = 0; i < 300; i++)); do printf x >&3; read -t 0.02 -u 3; done"
"""A connection that has something to say for some seconds, and gets no answer."""


@pytest.mark.parametrize(
    ("scheduler", "change", "spread"),
    [("rr", "2", "2"), ("sh", "0", "1")],
)
def test_the_first_other_server_and_how_many_there_are(
    open_lab_in: OpenLab, scheduler: str, change: str, spread: str
) -> None:
    with open_lab_in("dr", scheduler=scheduler) as lab:
        for more in ({}, {"keep": True}, {"keep": True, "after": 2}):
            assert observed(View(lab), "first-change", times=4, **more) == change
            assert observed(View(lab), "server-spread", times=4, **more) == spread


def test_refusals_are_counted_as_a_server_is(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr") as lab:
        lab.ipvs("director").flush()
        assert observed(View(lab), "server-count", times=3, server="ECONNREFUSED") == "3"


def test_answers_pass_the_director_by_nat_and_not_by_direct_routing(open_lab_in: OpenLab) -> None:
    shares = {}
    for method in ("nat", "dr"):
        with open_lab_in(method) as lab:
            share = observed(View(lab), "card-share", node="director", direction="out", connections=2)
            assert share is not None
            shares[method] = int(share)
    assert shares["nat"] > 1000
    # On cards without a rate one acknowledgement may answer for so many bytes that its share rounds to nothing.
    assert shares["dr"] < 100


def test_a_throughput_may_be_too_small_and_too_large(open_lab_in: OpenLab) -> None:
    check = shipped_registry().checks["throughput"]
    with open_lab_in("nat") as lab:
        view = View(lab)
        got = int(observed(view, "throughput", connections=2) or 0)
        for least, most, holds in ((1, None, True), (1, got, True), (got + 1, None, False), (1, got - 1, False)):
            arguments = check.arguments.model_validate({"connections": 2, "least": least, "most": most})
            assert check.judge(view, arguments).passed is holds
        assert observed(view, "throughput", connections=2, than=str(view.service().vip)) == "1"


def test_what_is_read_in_a_header_is_not_of_a_connection_from_before(open_lab_in: OpenLab) -> None:
    with open_lab_in("tun") as lab:
        view = View(lab)
        talk = f"bash -c '{TALKATIVE}' {view.service().vip} >/dev/null 2>&1 &"
        assert view.run("client", "sh", "-c", talk).status == 0
        # 14 bytes of Ethernet, 20 of the outer IP, 20 of IP, 40 of a SYN with its options.
        assert observed(view, "field", node="director", direction="out", field="bytes") == "94"


def observed(view: View, name: str, **arguments: object) -> str | None:
    kind = shipped_registry().observations[name]
    seen = kind.observe(view, kind.arguments.model_validate(arguments))
    return seen.value if isinstance(seen, Observed) else None
