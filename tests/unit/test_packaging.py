"""What the package declares agrees with what the launcher installs and with what is really there."""

from __future__ import annotations

import importlib.util
import re
import shutil
import tomllib
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())


def debian_packages() -> list[tuple[str, str, str, str]]:
    """(package, proof, set, reason) of each line."""
    lines = (PROJECT / "debian-packages.txt").read_text().splitlines()
    rows = [re.fullmatch(r"(\S+)\s+(\S+)\s+(\S+)\s+# (.+)", line) for line in lines if line and line[0] != "#"]
    assert all(rows)
    return [(row[1], row[2], row[3], row[4]) for row in rows if row]


def constraints() -> dict[str, str]:
    """Exact version by normalized name."""
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


def requirements(distribution: str, extra: str) -> Iterator[Requirement]:
    """What a distribution requires here, with the extra (or "" for none)."""
    for line in metadata.requires(distribution) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def all_requirements() -> Iterator[Requirement]:
    """Declared ones, and theirs, and so on."""
    waiting = [Requirement(line) for line in PYPROJECT["project"]["dependencies"]]
    waiting += [Requirement(line) for line in PYPROJECT["project"]["optional-dependencies"]["test"]]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        yield requirement
        for extra in ("", *requirement.extras):
            if (requirement.name, extra) not in seen:
                seen.add((requirement.name, extra))
                waiting += requirements(requirement.name, extra)


def test_every_python_package_is_pinned_to_a_version_that_its_users_allow() -> None:
    pinned = constraints()
    for requirement in all_requirements():
        version = pinned.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not in constraints.txt"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}, pinned {version}"


def test_nothing_is_pinned_that_nobody_requires() -> None:
    assert constraints().keys() == {canonicalize_name(requirement.name) for requirement in all_requirements()}


def test_debian_packages_are_listed_once_each_with_a_known_set() -> None:
    packages = [package for package, _, _, _ in debian_packages()]
    assert len(packages) == len(set(packages))
    assert {kind for _, _, kind, _ in debian_packages()} == {"run", "test"}


@pytest.mark.parametrize(
    "proof",
    [proof for package, proof, _, _ in debian_packages() if package != "user-mode-linux"],
)
def test_what_proves_a_debian_package_is_there(proof: str) -> None:
    """`./run test` has installed them; user-mode-linux alone is optional where the kernel has IPVS."""
    if proof.startswith("python:"):
        assert importlib.util.find_spec(proof.removeprefix("python:"))
    else:
        assert shutil.which(proof, path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/bin")


def test_the_launcher_names_the_optional_package_as_the_list_does() -> None:
    optional = re.search(r"^USER_MODE_LINUX=(\S+)", (PROJECT / "run").read_text(), re.MULTILINE)
    assert optional
    assert optional[1] in [package for package, _, _, _ in debian_packages()]


def test_the_wheel_carries_the_topologies_the_schema_and_the_type_marker() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["lvslab"]
    assert (PROJECT / "topologies").is_dir()
    assert wheel["force-include"]["topologies"] == "lvslab/shipped/topologies"
    assert resources.files("lvslab").joinpath("py.typed").is_file()
    assert resources.files("lvslab.report").joinpath("schema/verify.schema.json").is_file()


def test_the_licence_is_one_that_scapys_allows() -> None:
    """What is combined with scapy (GPL-2.0-only) must be offered under version 2."""
    assert PYPROJECT["project"]["license"] == "GPL-2.0-or-later"
    head = (PROJECT / "LICENSE").read_text()[:200]
    assert "GNU GENERAL PUBLIC LICENSE" in head
    assert "Version 2, June 1991" in head
