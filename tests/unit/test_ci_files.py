"""The CI files are what their readers accept: by the published schemas, by shellcheck, and in agreement."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lvslab.sandbox.backends import BACKENDS, MININET_OVS
from tests.ci_files import ACTION, GITHUB, GITLAB, OF_A_TOPOLOGY, github_cells, gitlab_cells, read, scripts

SCHEMAS = {"github-actions": ACTION, "github-workflows": GITHUB, "gitlab-ci": GITLAB}
"""By the name of the schema that check-jsonschema carries (SchemaStore's, and GitLab's own)."""
SCRIPTS = dict(scripts())
MISTAKES = {
    "github-actions": ("using: composite", "using: composed"),
    "github-workflows": ("runs-on:", "run-on:"),
    "gitlab-ci": ("when: on_failure", "when: failing"),
}


def check(schema: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_schema_accepts_it_and_not_a_mistake(schema: str, tmp_path: Path) -> None:
    (right, wrong), path = MISTAKES[schema], tmp_path / SCHEMAS[schema].name
    # GitLab's schema looks away from hidden jobs, which begin with a dot.
    text = SCHEMAS[schema].read_text().replace("\n.clusters:", "\nclusters:")
    path.write_text(text)
    accepted = check(schema, path)
    assert accepted.returncode == 0, accepted.stdout
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    assert check(schema, path).returncode == 1


@pytest.mark.parametrize(("name", "text"), SCRIPTS.items(), ids=SCRIPTS)
def test_shellcheck_has_nothing_to_say(name: str, text: str) -> None:
    done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=text, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_both_have_the_same_matrix() -> None:
    assert github_cells() == gitlab_cells()
    # Jobs do without Open vSwitch: its daemons would have to be installed, for the same packets.
    assert {cell["backend"] for cell in github_cells()} == {*BACKENDS} - {MININET_OVS}
    assert {tuple(cell[axis] for axis in OF_A_TOPOLOGY) for cell in github_cells()} >= {
        (method, family, protocol)
        for method in ("nat", "dr", "tun")
        for family in ("ipv4", "ipv6")
        for protocol in ("tcp", "udp")
    }


def test_every_axis_is_used_and_every_use_is_an_axis() -> None:
    """What is not there is empty text to GitHub, without a word."""
    axes = set(read(GITHUB)["jobs"]["verify"]["strategy"]["matrix"])
    assert set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", GITHUB.read_text())) == axes
    assert {axis.upper() for axis in axes} <= set(re.findall(r"\$([A-Z]+)", GITLAB.read_text()))


def test_the_job_gives_the_action_what_it_takes() -> None:
    (given,) = (step["with"] for step in read(GITHUB)["jobs"]["verify"]["steps"] if "actions/verify" in step["uses"])
    assert set(given) <= set(read(ACTION)["inputs"])
    assert set(re.findall(r"\$\{\{ inputs\.(\w+) \}\}", ACTION.read_text())) == set(read(ACTION)["inputs"])
