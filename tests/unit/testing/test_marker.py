"""What the markers of a test say together."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from lvslab.errors import BadInput
from lvslab.testing.marker import KernelOrder, order_of
from lvslab.topology.model import Setting


def mark(*args: object, **words: Any) -> pytest.Mark:
    marked: pytest.MarkDecorator = pytest.mark.lvs(*args, **words)
    return marked.mark


def test_a_shipped_topology_on_the_default_kernel(tmp_path: Path) -> None:
    order = order_of([mark(topology="dr")], tmp_path)
    assert (order.topology, order.on, order.backend, order.fresh) == (
        "dr",
        KernelOrder(None, False, 512),
        "netns",
        False,
    )


def test_the_nearest_comes_first_and_the_others_fill_in(tmp_path: Path) -> None:
    order = order_of([mark(kernel="uml"), mark(topology="nat", kernel="native"), mark(topology="dr")], tmp_path)
    assert (order.topology, order.on.kernel) == ("nat", "uml")


def test_a_path_is_seen_from_the_test(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").touch()
    for name in ("mine.yaml", Path("mine.yaml")):
        assert order_of([mark(topology=name)], tmp_path).topology == str(tmp_path / "mine.yaml")


def test_a_shipped_name_is_not_hidden_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "dr").mkdir()
    assert order_of([mark(topology="dr")], tmp_path).topology == "dr"


@pytest.mark.parametrize("without", ["arp_ignore", ["arp_ignore"], ("arp_ignore",)])
def test_faults_are_those_of_the_command_line(tmp_path: Path, without: object) -> None:
    topology = order_of([mark(topology="dr", without=without, set={"real_servers": 3})], tmp_path).load()
    assert topology.params["real_servers"] == 3
    assert not topology.node("rs3").has(Setting.ARP_IGNORE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "which topology"),
        ({"topology": "dr", "without_": "x"}, "did you mean 'without'"),
        ({"topology": "dr", "folder": "x"}, "no argument 'folder'"),
        ({"topology": "dr", "set": "real_servers=3"}, 'expected parameters such as {"real_servers": 3}'),
        ({"topology": 5}, r"\(topology=…\): cannot be meant: expected a name such as .* found 5"),
        ({"topology": ""}, "found ''"),
        ({"topology": "dr", "without": 5}, r"\(without=…\): cannot be meant: .* found 5"),
        ({"topology": "dr", "without": [5]}, r"found \[5\]"),
        ({"topology": "dr", "set": {5: 1}}, r"found \{5: 1\}"),
        ({"topology": "dr", "kernel": 6}, r"\(kernel=…\): cannot be meant: .* found 6"),
        ({"topology": "dr", "backend": None}, "found None"),
        ({"topology": "dr", "fresh": "no"}, r"\(fresh=…\): cannot be meant: expected True or False, found 'no'"),
        ({"topology": "dr", "virtual_time": 1}, "expected True or False, found 1"),
        *(
            ({"topology": "dr", "memory_mib": value}, r"\(memory_mib=…\): not the memory of a kernel: .* at least 96")
            for value in ("lots", -1, 95, math.nan, 512.0, True)
        ),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path: Path, words: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        order_of([mark(**words)] if words else [], tmp_path)


def test_arguments_have_names(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="its arguments have names"):
        order_of([mark("dr", topology="dr")], tmp_path)
