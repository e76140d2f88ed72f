"""The container file copies what is there, and installs what lvslab needs; no container engine builds it here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
CONTAINERFILE = (CHECKOUT / "deploy" / "Containerfile").read_text()
COPY = re.compile(r"^COPY (?P<sources>.+) \S+$", re.MULTILINE)
PACKAGES = re.compile(r"awk '(?P<program>[^']+)'")


def copied() -> set[str]:
    return {source for found in COPY.finditer(CONTAINERFILE) for source in found["sources"].split()}


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored, *kept = (CHECKOUT / ".dockerignore").read_text().split()
    assert ignored == "*"
    assert {line.removeprefix("!") for line in kept if line.startswith("!")} == copied()
    assert all((CHECKOUT / source).exists() for source in copied())


def test_all_of_the_wheel_is_copied() -> None:
    """By what pyproject.toml names: the package, what it is shipped with, README and licence."""
    pyproject = (CHECKOUT / "pyproject.toml").read_text()
    shipped = set(re.findall(r'^"(\w+)" = "lvslab/shipped/\w+"$', pyproject, re.MULTILINE))
    assert shipped == {"topologies", "labs"}
    assert shipped | {"lvslab", "README.md", "LICENSE", "pyproject.toml", "constraints.txt"} <= copied()


def test_it_installs_what_is_needed_at_run_time() -> None:
    found = PACKAGES.search(CONTAINERFILE)
    assert found is not None
    done = subprocess.run(
        ["awk", found["program"], CHECKOUT / "debian-packages.txt"], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in (CHECKOUT / "debian-packages.txt").read_text().splitlines()]
    needed = {line[0] for line in lines if len(line) > 2 and line[0] != "#" and line[2] == "run"}
    assert needed >= {"user-mode-linux", "ipvsadm", "iproute2"}
    assert set(done.stdout.split()) == needed | {"ethtool", "nginx-light"}
