"""What an editor is told of a topology as it is written: templates are fine, and slips are not."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from lvslab.authoring.begin import topology_text
from lvslab.authoring.choices import Choices, Forwarding
from lvslab.authoring.editor_schema import editor_schema
from lvslab.topology import json_schema, shipped
from lvslab.topology.shipped import find

SCHEMA = Draft202012Validator(editor_schema())
RENDERED = Draft202012Validator(json_schema())


def read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def faults(text: str) -> list[str]:
    """Return where an editor would mark something, as dotted paths."""
    return sorted(".".join(map(str, error.absolute_path)) for error in SCHEMA.iter_errors(read(text)))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(editor_schema())


@pytest.mark.parametrize("name", [name for name in shipped() if find(name).suffix == ".yaml"])
def test_shipped_files_have_no_marks(name: str) -> None:
    assert faults(find(name).read_text()) == []


@pytest.mark.parametrize("forwarding", Forwarding)
def test_a_begun_file_has_no_marks(forwarding: Forwarding) -> None:
    assert faults(topology_text(Choices("mine", forwarding))) == []


def test_the_schema_of_rendered_files_would_mark_templates() -> None:
    assert not RENDERED.is_valid(read(topology_text(Choices("mine", Forwarding.DR))))


GOOD = topology_text(Choices("mine", Forwarding.NAT))
SLIPS = {
    "a misspelt key": ("    method: nat", "    methd: nat", "services.0"),
    "a word of no list": ("method: nat", "method: lan", "services.0.method"),
    "a template within a word": ("method: nat", 'method: "{{ method }}"', None),
    "a port out of range": ("port: 80", "port: 80000", "services.0.port"),
    "a port by template": ("port: 80", 'port: "{{ port }}"', None),
    "an unknown role": ("role: client", "role: cliet", "nodes.client"),
    "a key of no node": ("role: client,", "role: client, gatway: director,", "nodes.client"),
    "a removal of nothing": ("name: ", "without: [arp_ignor]\nname: ", "without.0"),
    "a removal": ("name: ", "without: [arp_ignore@rs1]\nname: ", None),
    "an unknown top key": ("name: ", "nodess: {}\nname: ", ""),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_are_marked_where_they_are(slip: str) -> None:
    right, wrong, place = SLIPS[slip]
    text = GOOD.replace(right, wrong, 1)
    assert text != GOOD
    found = faults(text)
    assert found == [] if place is None else [each for each in found if each.startswith(place)], found


def test_every_key_of_the_format_is_offered() -> None:
    """What an editor completes: the same names as in the schema of rendered files."""
    assert editor_schema()["properties"].keys() == json_schema()["properties"].keys()
    for name, definition in json_schema()["$defs"].items():
        assert editor_schema()["$defs"][name].get("properties", {}).keys() == definition.get("properties", {}).keys()


def test_descriptions_stay_on_the_outside() -> None:
    port = editor_schema()["$defs"]["ServerEntry"]["properties"]["port"]
    assert "NAT only" in port["description"]
