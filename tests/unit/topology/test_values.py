"""The small parsers: groups, host numbers, subnets, removals, parameters, YAML scalars."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from lvslab.errors import BadInput
from lvslab.topology.addressing import host_addresses, mac_address
from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import expand, select
from lvslab.topology.model import Setting
from lvslab.topology.parameters import Parameter, override, read_defaults
from lvslab.topology.removal import Removal, parse_removal
from lvslab.topology.yaml_reader import read_yaml

NODES = ("client", "rs1", "rs2", "rs10")
DUAL = (ip_network("203.0.113.0/24"), ip_network("2001:db8::/64"))


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("client", ("client",)),
        ("rs[1-3]", ("rs1", "rs2", "rs3")),
        ("rs[7-7]", ("rs7",)),
        ("a[9-10]b", ("a9b", "a10b")),
    ],
)
def test_a_group_key_unfolds_to_its_members(key: str, names: tuple[str, ...]) -> None:
    assert expand(key) == names


@pytest.mark.parametrize("key", ["rs[2-1]", "rs[1-257]", "rs[1]", "rs[a-b]", "rs*", "rs[1-2", "rs[1-2][3-4]"])
def test_a_malformed_group_key_is_refused(key: str) -> None:
    with pytest.raises(UnusableError):
        expand(key)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("rs*", ("rs1", "rs2", "rs10")), ("*", NODES), ("rs1*", ("rs1", "rs10")), ("rs[1-2]", ("rs1", "rs2"))],
)
def test_a_pattern_selects_nodes(pattern: str, names: tuple[str, ...]) -> None:
    assert select(pattern, NODES) == names


@pytest.mark.parametrize("pattern", ["web*", "rs3", "rs[1-3]", "[rs]*", ""])
def test_a_pattern_that_selects_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(UnusableError):
        select(pattern, NODES)


@pytest.mark.parametrize(
    ("hosts", "position", "addresses"),
    [
        (("10",), 0, ["203.0.113.10/24", "2001:db8::a/64"]),
        (("11+",), 0, ["203.0.113.11/24", "2001:db8::b/64"]),
        (("11+",), 4, ["203.0.113.15/24", "2001:db8::f/64"]),
        (("203.0.113.9", "2001:db8::53"), 0, ["203.0.113.9/24", "2001:db8::53/64"]),
    ],
)
def test_host_numbers_become_addresses_of_each_subnet(
    hosts: tuple[str, ...], position: int, addresses: list[str]
) -> None:
    assert [str(address) for address in host_addresses(hosts, DUAL, position, 1)] == addresses


@pytest.mark.parametrize(("node", "interface", "mac"), [(1, 0, "02:00:00:00:01:00"), (259, 1, "02:00:00:01:03:01")])
def test_a_mac_names_its_node_and_interface(node: int, interface: int, mac: str) -> None:
    assert mac_address(node, interface) == mac


@pytest.mark.parametrize(
    ("text", "removal"),
    [
        ("vip", Removal(Setting.VIP, None)),
        ("vip@rs1", Removal(Setting.VIP, "rs1")),
        ("arp_ignore@rs*", Removal(Setting.ARP_IGNORE, "rs*")),
    ],
)
def test_a_removal_names_a_setting_and_perhaps_nodes(text: str, removal: Removal) -> None:
    assert parse_removal(text) == removal


DEFAULTS: dict[str, Parameter] = {"count": 2, "scheduler": "rr", "strict": False, "share": 0.5}


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("count", "4", 4),
        ("count", 4, 4),
        ("scheduler", "wrr", "wrr"),
        ("scheduler", "7", "7"),
        ("strict", "true", True),
        ("share", "0.25", 0.25),
        ("share", 1, 1.0),
    ],
)
def test_a_parameter_is_read_as_its_defaults_kind(name: str, given: object, value: object) -> None:
    assert override(DEFAULTS, {name: given}, "x.yaml") == {**DEFAULTS, name: value}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("count", "two"),
        ("count", "2.0"),
        ("count", True),
        ("count", ""),
        ("count", "[1]"),
        ("count", "{"),
        ("scheduler", 7),
        ("strict", "1"),
        ("share", "half"),
        ("share", float("nan")),
        ("missing", "1"),
    ],
)
def test_a_parameter_of_another_kind_is_refused(name: str, given: object) -> None:
    with pytest.raises(BadInput, match=f"--set {name}"):
        override(DEFAULTS, {name: given}, "x.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "name: x\nparams: {a: 1, b: two}\nnodes:\n",
        "params:\n  a: 1   # one\n\n# a comment\n  b: two\n{% if a %}\nname: x\n{% endif %}\n",
        "params:\r\n  a: 1\r\n  b: two\r\nname: x\r\n",
        "name: {{ b }}\nparams:\n  a: 1\n  b: two",
    ],
)
def test_defaults_are_read_before_rendering(text: str) -> None:
    assert read_defaults(text, "x.yaml") == {"a": 1, "b": "two"}


@pytest.mark.parametrize(
    "text", ["name: x\n", "params:\n", "params: {}\n", "paramset: {a: 1}\n", "x:\n  params: {a: 1}\n"]
)
def test_a_file_may_have_no_parameters(text: str) -> None:
    assert read_defaults(text, "x.yaml") == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("True", True),
        ("~", None),
        ("0o17", 15),
        ("0x1F", 31),
        ("017", 17),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("1.5", 1.5),
        ('"5"', "5"),
        ("11+", "11+"),
        ("203.0.113.10", "203.0.113.10"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
    ],
)
def test_scalars_are_read_as_yaml_1_2(text: str, value: object) -> None:
    assert read_yaml(text, "x.yaml").data == value


def test_every_key_and_item_has_its_line() -> None:
    lines = read_yaml("a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n", "x.yaml").lines
    assert lines["a",] == 1
    assert lines["a", "c"] == 3
    assert lines["a", "c", 1] == 5
    assert lines["a", "c", 1, "d"] == 5
