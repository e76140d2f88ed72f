"""The CI files that the documentation offers, read: their shell text and the cells of their matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

CHECKOUT = Path(__file__).parents[1]
ACTION = CHECKOUT / ".github" / "actions" / "verify" / "action.yml"
GITHUB = CHECKOUT / "docs" / "ci" / "github.yml"
GITLAB = CHECKOUT / "docs" / "ci" / "gitlab.yml"
CLUSTER = CHECKOUT / "docs" / "ci" / "cluster.yaml.j2"

OF_A_TOPOLOGY = ("method", "family", "protocol")
"""Axes that are parameters of the cluster; the others say where it runs."""


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def cells(matrix: Mapping[str, list[str]]) -> list[dict[str, str]]:
    """Return every combination of a matrix's values."""
    return [dict(zip(matrix, values, strict=True)) for values in product(*matrix.values())]


def github_cells() -> list[dict[str, str]]:
    return cells(read(GITHUB)["jobs"]["verify"]["strategy"]["matrix"])


def gitlab_cells() -> list[dict[str, str]]:
    (matrix,) = read(GITLAB)["verify"]["parallel"]["matrix"]
    return cells({axis.lower(): values for axis, values in matrix.items()})


def action_steps() -> list[str]:
    """Return the action's shell text."""
    return [step["run"] for step in read(ACTION)["runs"]["steps"] if "run" in step]


def github_steps(job: str) -> list[str]:
    return [step["run"] for step in read(GITHUB)["jobs"][job]["steps"] if "run" in step]


def gitlab_lines(job: str) -> list[str]:
    """Return what a job runs, line by line."""
    file = read(GITLAB)
    return [*file[file[job]["extends"]]["before_script"], *file[job]["script"]]


def scripts() -> Iterator[tuple[str, str]]:
    """Yield every piece of shell text with a name."""
    yield from ((f"action-{number}", text) for number, text in enumerate(action_steps(), 1))
    yield from ((f"github-pytest-{number}", text) for number, text in enumerate(github_steps("pytest"), 1))
    yield from ((f"gitlab-{job}", "\n".join(gitlab_lines(job))) for job in ("verify", "pytest"))
