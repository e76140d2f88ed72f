"""Tables go from the model into a kernel, out through ipvsadm's text, and back into the model: nothing changes.

What the text cannot carry is exactly what `lost_by_saving` names. LVSLAB_LONG=1 tries more tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import HealthCheck, given, settings

from lvslab.ipvs.compare import compare
from lvslab.ipvs.intent import from_kernel
from lvslab.ipvs.model import (
    AddressKey,
    Destination,
    FwmarkKey,
    IntendedService,
    Persistence,
    Service,
)
from lvslab.ipvs.text import WrittenService, lost_by_saving, read_listing, read_saved, saved_text
from lvslab.ipvs.text.losses import printed_order
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.topology.model import Method, Protocol
from tests.kernel.support import lab_in
from tests.unit.ipvs.tables import tables

pytestmark = pytest.mark.kernel

LONG = bool(os.environ.get("LVSLAB_LONG"))
MANY = settings(
    deadline=None, max_examples=200 if LONG else 25, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
Table = tuple[IntendedService, ...]

WEB = Service(AddressKey(Protocol.TCP, ip_address("192.0.2.100"), 80), "rr")


def nat(address: str) -> Destination:
    return Destination(ip_address(address), 80, Method.NAT)


@pytest.fixture(scope="module")
def director(kernel: RunningKernel) -> Iterator[Director]:
    with lab_in(kernel, "nat") as lab:
        yield Director(lab)


class Director:
    """A director's table, reached over netlink by us and by ipvsadm in its node."""

    def __init__(self, lab: Lab) -> None:
        self.table = lab.ipvs("director")
        self._node = lab.node("director")

    def install(self, table: Table) -> None:
        self.table.flush()
        self.table.install(table)

    def differences(self, table: Table) -> list[str]:
        return compare(table, self.table.services())

    def ipvsadm(self, *options: str) -> str:
        done = self._node.run("ipvsadm", *options)
        assert done.status == 0, done.output
        return done.output

    def restore(self, text: str) -> str:
        """Give a text to `ipvsadm -R` and return what it complains of."""
        self.table.flush()
        return self._node.run("sh", "-c", 'printf %s "$1" | ipvsadm -R 2>&1', "sh", text).output


def as_printed(table: Table) -> dict[object, IntendedService]:
    """What is left of a table once ipvsadm has printed it."""
    return {
        item.service.key: replace(
            item,
            destinations=tuple(
                replace(each, upper_threshold=0, lower_threshold=0) for each in printed_order(item.destinations)
            ),
        )
        for item in table
    }


def read(written: Iterable[WrittenService]) -> dict[object, IntendedService]:
    return {item.service.key: item.intended for item in written}


@MANY
@given(tables())
def test_we_read_what_ipvsadm_prints_of_a_random_table(director: Director, table: Table) -> None:
    director.install(table)
    assert director.differences(table) == []
    assert read(read_saved(director.ipvsadm("-Sn"), "-Sn")) == as_printed(table)
    assert read(read_listing(director.ipvsadm("-Ln", "--tun-info"), "-Ln")) == as_printed(table)


@MANY
@given(tables())
def test_ipvsadm_reads_what_we_write_of_a_random_table(director: Director, table: Table) -> None:
    assert director.restore(saved_text(table)) == ""
    assert director.differences(table) == []
    dumped = tuple(from_kernel(entry) for entry in director.table.services())
    assert read(read_saved(saved_text(dumped), "ours")) == {item.service.key: item for item in table}


@MANY
@given(tables(max_size=1))
def test_a_table_comes_back_from_save_and_restore_if_and_only_if_nothing_is_reported_lost(
    director: Director, table: Table
) -> None:
    director.install(table)
    complaint = director.restore(director.ipvsadm("-Sn"))
    assert (complaint == "" and director.differences(table) == []) == (not lost_by_saving(table))


LOSSES = {
    "thresholds": IntendedService(WEB, (replace(nat("10.0.0.1"), upper_threshold=9, lower_threshold=3),)),
    "order of adding": IntendedService(WEB, (nat("10.0.0.2"), nat("10.0.0.1"))),
    "refuses": IntendedService(Service(FwmarkKey(2**31), "rr"), ()),
}


@pytest.mark.parametrize("words", LOSSES)
def test_each_kind_of_loss_is_named_and_real(director: Director, words: str) -> None:
    table = (LOSSES[words],)
    assert [words in text for text in lost_by_saving(table)] == [True]
    director.install(table)
    director.restore(director.ipvsadm("-Sn"))
    assert director.differences(table) != []


def test_servers_that_ipvsadm_would_sort_so_lose_nothing(director: Director) -> None:
    table = (IntendedService(WEB, (nat("192.0.2.1"), nat("10.0.0.1"), nat("10.0.0.2"))),)
    assert lost_by_saving(table) == ()
    director.install(table)
    director.restore(director.ipvsadm("-Sn"))
    assert director.differences(table) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("-w 1", "-w 2", 1),
        lambda text: text.replace("-s rr", "-s lc"),
        lambda text: text.replace("-p 60 -M 255.255.255.0", "-p 60"),
        lambda text: "\n".join(text.splitlines()[:-1]) + "\n",
    ],
    ids=["weight", "scheduler", "netmask", "server"],
)
def test_a_text_that_says_something_else_makes_another_table(director: Director, change: Callable[[str], str]) -> None:
    service = replace(WEB, persistence=Persistence(60, 24))
    table = (IntendedService(service, (nat("10.0.0.1"), nat("10.0.0.2"))),)
    changed = change(saved_text(table))
    assert changed != saved_text(table)
    assert director.restore(changed) == ""
    assert director.differences(table) != []


def test_default_persistence_is_what_ipvsadm_makes_of_it(director: Director) -> None:
    text = "-A -t 192.0.2.100:80 -p\n-a -t 192.0.2.100:80 -r 10.0.0.1\n-a -t 192.0.2.100:80 -r 10.0.0.2 -m\n"
    assert director.restore(text) == ""
    assert director.differences(tuple(item.intended for item in read_saved(text, "t"))) == []
