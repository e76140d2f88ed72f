"""What is in force on a device: the larger of its own value and that of `all`; what `lo` is set to never counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lvslab.labs.checks.sysctls import DeviceSysctl, device_sysctl
from lvslab.labs.view import View

CASES = {
    "on all": ({"all": "1", "eth0": "0"}, True),
    "on the device": ({"all": "0", "eth0": "1"}, True),
    "the larger one": ({"all": "2", "eth0": "1"}, False),
    "on lo only": ({"all": "0", "eth0": "0", "lo": "1"}, False),
}


def view_of(values: dict[str, str]) -> View:
    nodes = (SimpleNamespace(name="rs1"),)
    return cast(
        View,
        SimpleNamespace(
            topology=SimpleNamespace(nodes=nodes), sysctl=lambda _node, key: values[cast(Any, key).split(".")[3]]
        ),
    )


@pytest.mark.parametrize("case", CASES)
def test_the_value_in_force(case: str) -> None:
    values, holds = CASES[case]
    wanted = DeviceSysctl.model_validate({"node": "rs*", "setting": "arp_ignore", "value": "1"})
    finding = device_sysctl(view_of(values), wanted)
    assert finding.passed is holds
    assert holds or finding.next.en == "on rs1: sysctl net.ipv4.conf.all.arp_ignore"


def test_the_cure_names_the_switch_that_is_wrong() -> None:
    wanted = DeviceSysctl.model_validate({"node": "rs*", "setting": "send_redirects", "value": "0"})
    finding = device_sysctl(view_of({"all": "0", "eth0": "1"}), wanted)
    assert finding.next.en == "on rs1: sysctl net.ipv4.conf.eth0.send_redirects"
