"""What is no finding about a cluster: errors and skips."""

from __future__ import annotations

import pytest

from lvslab.errors import KernelFault
from lvslab.testing.lab import LabUnderTest


@pytest.mark.lvs(topology="dr", kernel="uml:0.1")
def test_a_kernel_that_is_not_here(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


@pytest.mark.lvs(topology="dr")
def test_the_kernel_fails(lvs_lab: LabUnderTest) -> None:
    lvs_lab.walk("client", "http://vip/")
    raise KernelFault("it broke", where="here")


@pytest.mark.lvs(topology="dr")
def test_the_next_gets_a_new_one(lvs_lab: LabUnderTest) -> None:
    assert not lvs_lab.lab.connections("director")


@pytest.mark.lvs(topology="dr", kernel="ulm")
def test_a_kernel_that_cannot_be(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


@pytest.mark.lvs(topology="dr", backend="minimal")
def test_a_backend_that_cannot_be(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


@pytest.mark.lvs(topology="doctor")
def test_a_topology_that_is_not_there(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


def test_no_marker(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


@pytest.mark.lvs(topology="dr", witout="arp_ignore")
def test_a_misspelt_marker(lvs_lab: LabUnderTest) -> None:
    raise NotImplementedError


def test_without_a_cluster() -> None:
    """Most tests of a project: the plugin is nothing to them."""
