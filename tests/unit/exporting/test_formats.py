"""What is exported is what the engines' own schema or parser takes, and it wires the topology that was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator, Draft202012Validator
from Kathara.parser.netkit.LabParser import LabParser
from ruamel.yaml import YAML

from lvslab.cli.main import main
from lvslab.errors import BadInput
from lvslab.exporting.compose import compose_files
from lvslab.exporting.containerlab import containerlab_files
from lvslab.exporting.files import ExportedFile, write_files
from lvslab.exporting.kathara import kathara_files
from lvslab.topology import load_text, load_topology, shipped
from lvslab.topology.model import Topology

Render = Callable[[Topology, str], Iterable[ExportedFile]]
Wiring = set[tuple[str, str, str]]
"""Node, interface, network."""

OF_CONTAINERLAB: dict[str, Any] = {
    "definitions": {
        "node": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["linux"]},
                "image": {"type": "string"},
                "network-mode": {"pattern": r"^(host)|(container:\S+)|(none)$"},
                "cmd": {"type": "string"},
                "exec": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "binds": {"type": "array", "minItems": 1, "items": {"type": "string"}, "uniqueItems": True},
            },
            "additionalProperties": False,
        }
    },
    "required": ["name", "topology"],
    "properties": {
        "name": {"type": "string"},
        "topology": {
            "properties": {
                "defaults": {"$ref": "#/definitions/node"},
                "nodes": {"additionalProperties": {"$ref": "#/definitions/node"}},
                "links": {
                    "items": {
                        "properties": {
                            "endpoints": {
                                "type": "array",
                                "minItems": 2,
                                "items": {"type": "string", "pattern": r"^\S+:\S+$"},
                                "uniqueItems": True,
                            }
                        }
                    }
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""What schemas/clab.schema.json of containerlab asks of the keys that are used; no package carries that file."""


def wiring(topology: Topology) -> Wiring:
    return {(node.name, each.name, each.network) for node in topology.nodes for each in node.interfaces}


def texts(render: Render, topology: Topology) -> dict[str, str]:
    return {file.path: file.text for file in render(topology, "lvslab")}


def document(text: str) -> Any:
    return YAML(typ="safe").load(text)


@pytest.mark.parametrize("name", shipped())
def test_compose_files_are_valid_and_wire_the_topology(name: str) -> None:
    topology = load_topology(name)
    files = texts(compose_files, topology)
    compose = document(files["compose.yaml"])
    Draft7Validator(get_builtin_schema("vendor.compose-spec")).validate(compose)
    assert wiring(topology) == {
        (service, attachment["interface_name"], network)
        for service, settings in compose["services"].items()
        for network, attachment in settings["networks"].items()
    }
    mounted = {settings["volumes"][0].split(":")[0] for settings in compose["services"].values()}
    assert mounted == {f"./{path}" for path in files if path.startswith("nodes/")}


@pytest.mark.parametrize("name", shipped())
def test_kathara_reads_what_is_exported_for_it(name: str, tmp_path: Path) -> None:
    topology = load_topology(name)
    write_files(tmp_path, kathara_files(topology, "lvslab"))
    scenario = LabParser.parse(str(tmp_path))
    assert scenario.name == name
    assert wiring(topology) == {
        (machine.name, f"eth{number}", interface.link.name)
        for machine in scenario.machines.values()
        for number, interface in machine.interfaces.items()
    }
    assert {(each.meta["image"], each.meta["privileged"]) for each in scenario.machines.values()} == {("lvslab", True)}
    assert {path.stem for path in tmp_path.glob("*.startup")} == set(scenario.machines)


@pytest.mark.parametrize("name", shipped())
def test_containerlab_definitions_have_the_shape_it_asks_for(name: str) -> None:
    topology = load_topology(name)
    files = texts(containerlab_files, topology)
    definition = document(files[f"{name}.clab.yml"])
    Draft202012Validator(OF_CONTAINERLAB).validate(definition)
    links = [link["endpoints"] for link in definition["topology"]["links"]]
    assert wiring(topology) == {(*near.split(":"), far.split(":")[0].removeprefix("sw-")) for near, far in links}
    ends = [end for link in links for end in link]
    assert len(set(ends)) == len(ends)
    nodes = definition["topology"]["nodes"]
    assert {end.split(":")[0] for end in ends} == set(nodes)
    assert {settings["binds"][0].split(":")[0] for settings in nodes.values()} == {
        path for path in files if path.startswith("nodes/")
    }


SHAPED = """
name: shaped
networks: {net: {subnets: 198.18.0.0/24, rate: 1mbit}}
nodes:
  client: {role: client, on: {net: 10}}
"""
JUMBO = SHAPED.replace("rate: 1mbit", "mtu: 9000")
HYPHENS = SHAPED.replace(", rate: 1mbit", "").replace("client:", "my-client:")
RESERVED = SHAPED.replace(", rate: 1mbit", "").replace("client:", "shared:")


@pytest.mark.parametrize(
    ("text", "render", "said"),
    [
        (SHAPED, compose_files, "compose has switches of its own.*found cards with a rate or a delay on net"),
        (SHAPED, kathara_files, "kathara has switches of its own.*lvslab export containerlab"),
        (JUMBO, compose_files, "found an MTU above 1500 on net"),
        (HYPHENS, kathara_files, "names that Kathará does not take.*found my-client"),
        (RESERVED, kathara_files, "found shared"),
    ],
)
def test_what_an_engine_cannot_hold_is_refused(text: str, render: Render, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        texts(render, load_text(text, "x.yaml"))


@pytest.mark.parametrize("text", [SHAPED, JUMBO, HYPHENS, RESERVED])
def test_containerlab_holds_all_of_it(text: str) -> None:
    assert texts(containerlab_files, load_text(text, "x.yaml"))


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(BadInput, match="there is something already"):
        write_files(tmp_path, [ExportedFile("x", "")])
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("nowhere")], ids=["file", "dangling link"])
def test_what_is_no_folder_is_left_alone(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x")
    with pytest.raises(BadInput, match=r"not a folder: found a (file|link to nothing); choose another name"):
        write_files(tmp_path / "x", [ExportedFile("x", "")])


@pytest.mark.parametrize("image", ["", " ", "x\n", 'x"\nclient[privileged]="True', "-x"])
@pytest.mark.parametrize("render", [compose_files, containerlab_files, kathara_files])
def test_what_is_no_image_is_refused(render: Render, image: str) -> None:
    with pytest.raises(BadInput, match="no name of an image"):
        list(render(load_topology("dr"), image))


def test_any_image_s_name_will_do() -> None:
    for image in ("lvslab", "registry.example:5000/a/b_c:1.0-2", "lvslab@sha256:0123"):
        assert image in next(iter(kathara_files(load_topology("dr"), image))).text


def test_a_folder_is_not_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["export", "compose", "dr", "-o", "-"])
    assert left.value.code == 2
    assert "an export is a folder of files" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("engine", ["containerlab", "kathara", "compose"])
def test_the_command_says_what_it_wrote(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster can be exported larger, broken, and with an image of one's own."""
    words = ("-o", str(tmp_path / "lab"), "--image", "mine", "--set", "real_servers=3", "--without", "vip@rs3")
    with pytest.raises(SystemExit) as left:
        main(["export", engine, "dr", *words])
    assert left.value.code == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(written) == sorted(path for path in (tmp_path / "lab").rglob("*") if path.is_file())
    assert "mine" in written[0].read_text()
    holders = {path.stem for path in written if "ip addr add 198.18.0.10/32 dev lo" in path.read_text()}
    assert holders == {"rs1", "rs2"}
