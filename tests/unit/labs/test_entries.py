"""The state that a call leaves behind is read when the call's last packets have passed."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from types import SimpleNamespace
from typing import cast

import pytest

from lvslab.ipvs.model import Connection
from lvslab.labs import entries
from lvslab.labs.entries import READINGS, entry_of_call
from lvslab.labs.view import View

CLIENT, OTHER, VIP, SERVER = map(ip_address, ("198.51.100.7", "198.51.100.8", "203.0.113.100", "10.0.0.2"))
OWN = Connection("TCP", CLIENT, 40001, VIP, 80, SERVER, 80, "ESTABLISHED", 10)
NOT_OWN = (
    replace(OWN, client=OTHER, state="TIME_WAIT"),
    replace(OWN, client_port=40002, state="TIME_WAIT"),
    replace(OWN, virtual=OTHER, state="TIME_WAIT"),
)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "PAUSE_S", 0.0)


def reading(*states: str) -> View:
    """A director whose entry of the call is in these states one after another, and stays in the last one."""
    left = list(states)

    def connections(_director: str) -> tuple[Connection, ...]:
        state = left.pop(0) if len(left) > 1 else left[0]
        return (*NOT_OWN, replace(OWN, state=state)) if state else NOT_OWN

    call = SimpleNamespace(client="client", client_port=40001, address=str(VIP))
    return cast(
        View,
        SimpleNamespace(
            call=lambda *_: (call,),
            topology=SimpleNamespace(node=lambda _: SimpleNamespace(own_addresses=(CLIENT,))),
            connections=connections,
        ),
    )


@pytest.mark.parametrize(
    ("states", "settled"),
    [
        (("FIN_WAIT",), "FIN_WAIT"),
        (("ESTABLISHED", "ESTABLISHED", "ESTABLISHED", "ESTABLISHED", "FIN_WAIT"), "FIN_WAIT"),
        (("ESTABLISHED", "CLOSE_WAIT", "CLOSE_WAIT", "TIME_WAIT"), "TIME_WAIT"),
        (("SYN_RECV",), "SYN_RECV"),
        (("ESTABLISHED",) * (READINGS + 1), "ESTABLISHED"),
    ],
)
def test_a_state_counts_once_it_has_settled(states: tuple[str, ...], settled: str) -> None:
    found = entry_of_call(reading(*states), None, None, "director")
    assert found is not None
    assert found.state == settled


def test_an_entry_of_another_client_port_or_vip_is_not_the_calls() -> None:
    assert entry_of_call(reading(""), None, None, "director") is None
