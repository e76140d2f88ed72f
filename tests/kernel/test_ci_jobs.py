"""The CI jobs of the documentation: every cell of their matrix, and their shell steps as far as they need no runner."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lvslab.kernels.start import RunningKernel
from lvslab.lab import running_lab
from lvslab.sandbox.backends import NETNS
from lvslab.topology import load_topology
from lvslab.verify.result import Verdict
from tests.ci_files import (
    ACTION,
    CHECKOUT,
    CLUSTER,
    OF_A_TOPOLOGY,
    action_steps,
    github_cells,
    github_steps,
    gitlab_lines,
)
from tests.kernel.support import COMMAND_TIMEOUT_S

pytestmark = pytest.mark.kernel

FETCHED = ("apt-get ", "git clone ", "pip install ")
"""What a fresh container lacks and this machine has."""
TUNNEL = {"method": "tun", "family": "ipv6", "protocol": "sctp"}
REPORTS = ("junit.xml", "walks.html", "capture.pcapng")


def clusters() -> list[tuple[str, dict[str, str]]]:
    """Return the cells that a run has time for, as backend and parameters; all of them with LVSLAB_LONG=1.

    Mininet takes seconds to build a network, and then it is the same one: tests/kernel/test_backends.py.
    """
    every = [(cell["backend"], {axis: cell[axis] for axis in OF_A_TOPOLOGY}) for cell in github_cells()]
    return every if os.environ.get("LVSLAB_LONG") else [each for each in every if each[0] == NETNS or each[1] == TUNNEL]


def name_of(part: object) -> str:
    return "-".join(part.values()) if isinstance(part, dict) else str(part)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What a runner has checked out: a project with the cluster, and lvslab beside it."""
    shutil.copy(CLUSTER, tmp_path)
    (tmp_path / ".lvslab").symlink_to(CHECKOUT)
    return tmp_path


def run_steps(steps: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run shell text as runners do, up to the first command that fails; return its exit status."""
    outer = {key: value for key, value in os.environ.items() if not key.startswith(("CI", "PYTEST_"))}
    for step in steps:
        lines = [line for line in step.splitlines() if not any(word in line for word in FETCHED)]
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(lines)],
            cwd=folder,
            env={**outer, **environment},
            check=False,
            timeout=COMMAND_TIMEOUT_S,
        )
        if done.returncode:
            return done.returncode
    return 0


def attached(junit: Path) -> list[str]:
    return re.findall(r"\[\[ATTACHMENT\|(.+)\]\]", "".join(ET.parse(junit).getroot().itertext()))


@pytest.mark.parametrize(("backend", "cluster"), clusters(), ids=name_of)
def test_each_cell_of_the_matrix_passes(kernel: RunningKernel, backend: str, cluster: dict[str, str]) -> None:
    topology = load_topology(CLUSTER, params=cluster)
    with running_lab(kernel, topology, backend=backend) as lab:
        result = lab.verify()
    assert (result.verdict, result.backend) == (Verdict.PASS, backend)
    (service,) = topology.services
    found = (service.method.value, f"ipv{service.vip.version}", service.protocol.value)
    assert found == tuple(cluster[axis] for axis in OF_A_TOPOLOGY)


def test_a_cell_of_the_gitlab_job(project: Path) -> None:
    environment = {axis.upper(): value for axis, value in TUNNEL.items()} | {"KERNEL": "uml", "BACKEND": "netns"}
    assert run_steps(gitlab_lines("verify"), project, environment) == 0
    assert sorted(path.name for path in (project / "lvs-reports").iterdir()) == sorted(REPORTS)
    assert attached(project / "lvs-reports" / "junit.xml") == []


def test_a_cell_of_the_github_job_that_fails(project: Path) -> None:
    environment = {
        "GITHUB_ACTION_PATH": str(ACTION.parent),
        "TOPOLOGIES": CLUSTER.name,
        "ARGUMENTS": "--set method=dr --without arp_ignore",
        "LVSLAB_KERNEL": "uml",
        "BACKEND": "netns",
        "REPORTS": "lvs-reports",
    }
    assert run_steps(action_steps(), project, environment) == 1
    paths = attached(project / "lvs-reports" / "junit.xml")
    assert set(paths) == {"lvs-reports/capture.pcapng", "lvs-reports/walks.html"}
    assert all((project / path).stat().st_size > 1000 for path in paths)


def test_the_github_job_that_runs_pytest(project: Path) -> None:
    (project / "test_cluster.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.lvs(topology='cluster.yaml.j2', set={'method': 'nat'})\n"
        "def test_what_holds(lvs_lab):\n    lvs_lab.verify().passes()\n\n"
        "@pytest.mark.lvs(topology='cluster.yaml.j2')\n"
        "def test_what_does_not(lvs_lab):\n    lvs_lab.walk('client', 'http://vip/').avoids('director')\n"
    )
    assert run_steps(github_steps("pytest"), project, {}) == 1
    cases = ET.parse(project / "lvs-reports" / "junit.xml").getroot().iter("testcase")
    assert {case.attrib["name"]: case.find("failure") is None for case in cases} == {
        "test_what_holds": True,
        "test_what_does_not": False,
    }
    assert sorted(Path(path).suffix for path in attached(project / "lvs-reports" / "junit.xml")) == [".html", ".pcapng"]
