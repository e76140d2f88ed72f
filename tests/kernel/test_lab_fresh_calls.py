"""Calls to a copy of a service: from the scheduler's beginning, and without a trace in the student's own service."""

from __future__ import annotations

import pytest

from lvslab.labs.fresh import Fresh, fresh_servers
from lvslab.labs.view import View
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    ("scheduler", "how", "expected"),
    [
        ("rr", Fresh(), ["rs3", "rs2", "rs1", "rs3"]),
        ("rr", Fresh(skip=1), ["rs2", "rs1", "rs3", "rs2"]),
        ("wrr", Fresh(weights={"rs1": 3}), ["rs3", "rs2", "rs1", "rs1"]),
        ("wrr", Fresh(skip=1, edit={"rs2": 1}), ["rs3", "rs2", "rs1", "rs3"]),
        ("lc", Fresh(held=2), ["rs1", "rs1", "rs1", "rs1"]),
    ],
)
def test_a_copy_begins_at_the_beginning(open_lab_in: OpenLab, scheduler: str, how: Fresh, expected: list[str]) -> None:
    with open_lab_in("nat", real_servers=3, scheduler=scheduler) as lab:
        view = View(lab)
        before = view.call(None, 1)[0].server
        assert fresh_servers(view, None, None, 4, how) == expected
        assert fresh_servers(view, None, None, 4, how) == expected, "the copy's ports are not used twice"
        assert [entry.service.key.port for entry in view.table("director")] == [80], "no copy is left"  # type: ignore[union-attr]
        if scheduler == "rr":
            assert (before, view.call(None, 1)[0].server) == ("rs3", "rs2"), "the service itself goes on where it was"


def test_connections_may_be_kept_open(open_lab_in: OpenLab) -> None:
    with open_lab_in("nat", real_servers=3, scheduler="wlc") as lab:
        servers = fresh_servers(View(lab), None, None, 5, Fresh(weights={"rs1": 3}), keep=True)
    assert servers == ["rs3", "rs2", "rs1", "rs1", "rs1"], "as many as their weights say"


def test_without_a_service_there_is_nothing_to_call(open_lab_in: OpenLab) -> None:
    with open_lab_in("nat") as lab:
        lab.ipvs("director").flush()
        assert fresh_servers(View(lab), None, None, 4, Fresh()) is None


def test_only_nat_can_be_copied(open_lab_in: OpenLab) -> None:
    with open_lab_in("dr") as lab, pytest.raises(LookupError, match="NAT"):
        fresh_servers(View(lab), None, None, 4, Fresh())
