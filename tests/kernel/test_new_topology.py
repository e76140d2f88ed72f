"""What `lvslab new topology` writes passes as it is, on a real kernel; broken as its first lines say, it fails."""

from __future__ import annotations

import re
from itertools import product

import pytest

from lvslab.authoring.begin import topology_text
from lvslab.authoring.choices import FAMILIES, Choices, Forwarding
from lvslab.topology import load_text
from lvslab.topology.model import Protocol
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

FAULT = re.compile(r"lvslab verify FILE --without (\S+)")


@pytest.mark.parametrize("protocol", [Protocol.TCP, Protocol.UDP])
@pytest.mark.parametrize(("forwarding", "family"), list(product(Forwarding, FAMILIES)))
def test_it_passes(open_lab_in: OpenLab, forwarding: Forwarding, family: str, protocol: Protocol) -> None:
    text = topology_text(Choices("mine", forwarding, family, protocol))
    with open_lab_in(load_text(text, "mine.yaml")) as lab:
        result = lab.verify()
    assert result.verdict is Verdict.PASS, result.expectations


@pytest.mark.parametrize("forwarding", Forwarding)
def test_broken_as_it_says_it_fails(open_lab_in: OpenLab, forwarding: Forwarding) -> None:
    text = topology_text(Choices("mine", forwarding))
    (fault,) = FAULT.findall(text)
    with open_lab_in(load_text(text, "mine.yaml", without=[fault])) as lab:
        assert lab.verify().verdict is Verdict.FAIL
