"""Another project with lvslab's wheel installed: its tests are `project/`, which only the tests here run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lvslab.kernels.folder import LOCK

collect_ignore = ["project"]

CHECKOUT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "project"
OF_THE_OUTER_RUN = ("CI", "PYTEST_", "GITHUB_", "GITLAB_", "LVSLAB_HOME")
"""Beginnings of variables that the project's own runs must not inherit."""


@dataclass(frozen=True)
class Run:
    """One run of the project's tests."""

    status: int
    output: str
    junit: ET.Element
    folder: Path

    @property
    def outcomes(self) -> dict[str, str]:
        """What became of each test, as JUnit has it: passed, failure, error or skipped."""
        return {case.attrib["name"]: outcome(case) for case in self.junit.iter("testcase")}

    def case(self, name: str) -> ET.Element:
        (found,) = (case for case in self.junit.iter("testcase") if case.attrib["name"] == name)
        return found

    def kept(self, suffix: str) -> list[Path]:
        return sorted((self.folder / "lvs-failures").glob(f"*.{suffix}"))


def outcome(case: ET.Element) -> str:
    return next((each.tag for each in case if each.tag in ("failure", "error", "skipped")), "passed")


@dataclass(frozen=True)
class AnotherProject:
    python: Path
    folder: Path
    labs: Path

    def run(self, *words: str) -> Run:
        """Run pytest on the project, as its developers do."""
        kept = self.folder / "lvs-failures"
        shutil.rmtree(kept, ignore_errors=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(OF_THE_OUTER_RUN)}
        done = subprocess.run(
            [self.python, "-m", "pytest", "-rs", "--junitxml=junit.xml", *words],
            cwd=self.folder,
            env={**environment, "LVSLAB_HOME": str(self.labs)},
            check=False,
            capture_output=True,
            text=True,
        )
        assert not done.stderr, done.stderr
        return Run(done.returncode, done.stdout, ET.parse(self.folder / "junit.xml").getroot(), self.folder)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    (built,) = folder.glob("lvslab-*.whl")
    return built


@pytest.fixture(scope="session")
def another_project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnotherProject]:
    """A copy of the project with an environment of its own; the wheel's requirements are borrowed from ours."""
    folder = tmp_path_factory.mktemp("another") / "project"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "checks" / "test_docs.py").write_text(example_in_docs())
    (folder / "checks" / "test_readme.py").write_text(f"import pytest\n\n{example_in_readme()}")
    environment = folder.parent / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    borrow_packages(environment)
    python = environment / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # Its path is short: sockets below it have at most 107 characters (unix(7)).
    labs = Path(tempfile.mkdtemp(prefix="lvsp-"))
    yield AnotherProject(python, folder, labs)
    left = sorted(path.name for path in labs.iterdir() if path.name != LOCK)
    assert not left, f"labs left behind in {labs}"
    shutil.rmtree(labs)


def example_in_docs() -> str:
    """Return the Python code that docs/pytest.md begins with."""
    return (CHECKOUT / "docs" / "pytest.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]


def example_in_readme() -> str:
    """Return the test in the README."""
    code = (CHECKOUT / "README.md").read_text().split("## In pytest\n", 1)[1].split("\n## ", 1)[0]
    return textwrap.dedent("\n".join(line for line in code.splitlines() if line.startswith("    ")))


def borrow_packages(environment: Path) -> None:
    """Link to every installed package but lvslab itself, which is this checkout."""
    paths = {"base": str(environment), "platbase": str(environment)}
    target = Path(sysconfig.get_path("purelib", vars=paths))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "lvslab" not in package.name and not (target / package.name).exists():
            (target / package.name).symlink_to(package)
