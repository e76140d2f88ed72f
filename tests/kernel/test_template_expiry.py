"""A persistence template outlives its connections and then expires: on every kernel, with shortened times.

With the kernel's own times, in virtual time: test_template_times.py.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lvslab.ipvs.model import Connection
from lvslab.ipvs.templates import is_template
from lvslab.lab import Lab
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

POLL_S = 0.1


def sleep_until(lab: Lab, holds: Callable[[tuple[Connection, ...]], bool]) -> tuple[Connection, ...]:
    while not holds(entries := lab.connections("director")):
        lab.sleep(POLL_S)
    return entries


def test_a_client_is_scheduled_anew_once_its_template_has_expired(open_lab_in: OpenLab) -> None:
    with open_lab_in("persistence", timeout=4) as lab:
        shortened = lab.node("director").run("ipvsadm", "--set", "1", "1", "1")
        assert shortened.status == 0, shortened.output
        client = lab.node("client1")
        first, second = (client.get("198.18.0.10")[0].server for _ in range(2))
        alone = sleep_until(lab, lambda entries: all(map(is_template, entries)))
        shown = lab.node("director").run("ipvsadm", "-Lnc").output
        (kept,) = client.get("198.18.0.10")
        sleep_until(lab, lambda entries: not entries)
        (anew,) = client.get("198.18.0.10")
    (template,) = alone
    assert str(template.client) in shown
    assert f"{template.client}:0" in shown
    assert first == second == kept.server
    # rr gave the first connection to the newest server, and the next one it was asked for to the one before.
    assert (first, anew.server) == ("rs3", "rs2")
