"""The grading job's own command, run as its pods would: no privilege, no account, one share each."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lvslab.kernels.folder import LOCK
from lvslab.kernels.images import find_image
from lvslab.labs.context import NodeWords
from lvslab.labs.loading import load_lab
from lvslab.labs.progress import Progress
from lvslab.labs.scaffold import new_lab
from lvslab.labs.submission import FORMAT, VERSION
from tests.kernel.support import COMMAND_TIMEOUT_S
from tests.kernel.test_ordinary_user import RUN, copy_packages

pytestmark = pytest.mark.kernel

MANIFEST = Path(__file__).parents[2] / "deploy" / "grading-job.yaml"
LAB = "13-mine"


@dataclass(frozen=True)
class Cluster:
    """Folders in the place of the volumes, and lvslab in the place of the image's."""

    folder: Path
    pod: dict[str, Any]

    def run(self, index: int, shares: int) -> subprocess.CompletedProcess[str]:
        (container,) = self.pod["containers"]
        user = self.pod["securityContext"]["runAsUser"] if os.getuid() == 0 else os.getuid()
        environment = {each["name"]: each["value"] for each in container["env"]}
        places = {"SUBMISSIONS": "submissions", "GRADES": "grades", "LVSLAB_HOME": "work/labs", "HOME": "work"}
        environment |= {name: str(self.folder / place) for name, place in places.items()}
        environment |= {"LABS": str(self.folder / "labs"), "SECRET": str(self.folder / "none")}
        environment |= {"SHARES": str(shares), "JOB_COMPLETION_INDEX": str(index)}
        environment |= {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        environment |= {"PYTHONPATH": str(self.folder / "packages"), "PYTHONDONTWRITEBYTECODE": "1"}
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]
        become += ["--bounding-set=-all", "--no-new-privs", "--"]
        return subprocess.run(
            [*(become if os.getuid() == 0 else []), *container["command"]],
            check=False,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            env=environment,
            cwd="/",
        )


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if find_image() is None:
        pytest.skip("grading needs User-Mode Linux, which is not installed")
    pod = YAML(typ="safe").load(MANIFEST.read_text())["spec"]["template"]["spec"]
    # Not pytest's folder: nobody else may enter that one.
    with tempfile.TemporaryDirectory(prefix="lvsj-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        copy_packages(folder / "packages")
        new_lab(folder / "labs" / LAB)
        for own in ("grades", "work"):
            (folder / own).mkdir()
            os.chown(folder / own, *([pod["securityContext"]["runAsUser"]] * 2 if os.getuid() == 0 else [-1, -1]))
        (folder / "bin").mkdir()
        command = folder / "bin" / "lvslab"
        command.write_text(f'#!/bin/sh\nexec {Path(sys.executable).resolve()} -c "{RUN}" "$@"\n')
        command.chmod(0o755)
        yield Cluster(folder, pod)


def submission(folder: Path, student: str, *, solved: bool) -> str:
    """Return what a student may have handed in: everything done, or nothing."""
    context = load_lab(folder / LAB, student).context
    nodes = {name: words.ip for name, words in context.items() if isinstance(words, NodeWords)}
    vip = f"{context['vip']}:{context['port']}"
    table = [f"ipvsadm -A -t {vip} -s rr", *(f"ipvsadm -a -t {vip} -r {nodes[name]} -m" for name in ("rs1", "rs2"))]
    progress, steps = Progress(LAB, "", student, token=student), {}
    if solved:
        progress = progress.with_step("source-at-server", answer=nodes["client"], passed_at=1.0)
        steps = {step: {"director": "\n".join(table)} for step in ("service", "source-at-server")}
    content = {"format": FORMAT, "version": VERSION, "progress": asdict(progress), "steps": steps}
    return json.dumps(content)


def test_each_pod_grades_its_share(cluster: Cluster) -> None:
    box = cluster.folder / "submissions"
    box.mkdir()
    (box / "a.lvslab.json").write_text(submission(cluster.folder / "labs", "alice", solved=True))
    (box / "b.lvslab.json").write_text(submission(cluster.folder / "labs", "bob", solved=False))
    (box / "c.lvslab.json").write_text("no submission")
    done = [cluster.run(index, 4) for index in range(4)]
    assert [each.returncode for each in done] == [0, 0, 2, 0], [each.stderr for each in done]
    grades = {path.name: json.loads(path.read_text()) for path in (cluster.folder / "grades").glob("*.json")}
    points = {name: [(each["student"], each["points"]) for each in table] for name, table in grades.items()}
    assert points == {"0.json": [("alice", 3)], "1.json": [("bob", 0)], "3.json": []}
    rows = [
        row
        for path in sorted((cluster.folder / "grades").glob("*.csv"))
        for row in csv.DictReader(path.read_text().splitlines())
    ]
    assert sum(int(row["points"]) for row in rows) == 3
    left = {path.name for path in (cluster.folder / "work").rglob("*")} - {"labs", LOCK}
    assert left == set()
