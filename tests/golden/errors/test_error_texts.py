"""The exact words of the faults people are most likely to meet; the texts are beside this file.

After a wanted change of words: ``UPDATE_GOLDEN=1 pytest tests/golden/errors``, then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.topology import load_text, load_topology
from lvslab.topology.shipped import find
from tests.bad_files.cases import BAD_FILES

HERE = Path(__file__).parent
BY_NAME = {case.name: case for case in BAD_FILES}
FROM_FILES = (
    "address-outside-network",
    "bad-dns-name",
    "dr-server-out-of-reach",
    "duplicate-address",
    "duplicate-key",
    "duplicate-service",
    "gateway-elsewhere",
    "host-number-too-large",
    "missing-method",
    "mixed-families",
    "overlapping-subnets",
    "port-map-in-dr",
    "rate-in-bytes",
    "rate-too-low",
    "setting-nobody-has",
    "subnet-with-host-bits",
    "sysctl-outside-net",
    "two-directors",
    "two-routers",
    "undefined-parameter",
    "undefined-server",
    "unclosed-quote",
    "unknown-expectation",
    "unknown-node-key",
    "unknown-role",
    "unknown-scheduler",
    "vip-in-no-network",
    "vip-of-a-server",
)
FROM_OPTIONS: dict[str, tuple[str, dict[str, object], list[str]]] = {
    "option-no-servers": ("nat", {"real_servers": "0"}, []),
    "option-too-many-servers": ("dr", {"real_servers": "257"}, []),
    "option-unknown-parameter": ("dr", {"real_server": "4"}, []),
    "option-wrong-kind": ("dr", {"real_servers": "many"}, []),
    "option-unknown-setting": ("dr", {}, ["arp_ignor@rs1"]),
    "option-setting-nobody-has": ("nat", {}, ["arp_ignore"]),
    "option-unknown-topology": ("nta", {}, []),
}


def compare(name: str, error: BadInput) -> None:
    golden = HERE / f"{name}.txt"
    text = str(error).replace(f"{find('dr').parent}/", "topologies/") + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_bad_file_is_described_in_these_words(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_text(BY_NAME[name].text, "bad.yaml")
    compare(name, caught.value)


@pytest.mark.parametrize("name", FROM_OPTIONS)
def test_a_bad_option_is_described_in_these_words(name: str) -> None:
    topology, params, without = FROM_OPTIONS[name]
    with pytest.raises(BadInput) as caught:
        load_topology(topology, params=params, without=without)
    compare(name, caught.value)


def test_every_stored_text_belongs_to_a_case() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {*FROM_FILES, *FROM_OPTIONS}
