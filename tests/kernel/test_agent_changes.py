"""Messages in one datagram: the kernel carries all out, tells of each refusal, and acknowledges the last."""

from __future__ import annotations

import errno

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.sandbox import rtnl
from lvslab.sandbox.transport import NetlinkTransport
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel


def test_a_refusal_in_the_middle_is_told_of_and_those_after_it_are_not(
    kernel: RunningKernel, open_lab_in: OpenLab
) -> None:
    with open_lab_in("dr", real_servers=1):
        transport = NetlinkTransport(kernel.channel)
        messages = [rtnl.set_up("eth0"), rtnl.set_up("eth7"), rtnl.set_up("eth0")]
        assert transport.change([("rs1", messages)]) == [0, errno.ENODEV]
        assert transport.change([("rs1", messages[:1]), ("client", messages[:1] * 3)]) == [0, 0, 0, 0]


def test_what_is_refused_last_is_told_of_once(kernel: RunningKernel, open_lab_in: OpenLab) -> None:
    with open_lab_in("dr", real_servers=1):
        messages = [rtnl.set_up("eth0"), rtnl.set_up("eth7")]
        assert NetlinkTransport(kernel.channel).change([("rs1", messages)]) == [0, errno.ENODEV]
        assert NetlinkTransport(kernel.channel).change([("rs1", messages[:1])]) == [0]
