"""docs/papers.md is what claims.yaml says, everything it names exists, and every row has a proof or says it is open.

``UPDATE_GOLDEN=1 pytest tests/papers`` writes the page. Commands that need a kernel run in tests/kernel/test_papers.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lvslab.cli.main import cli
from lvslab.topology import shipped
from tests.papers.claims import Claim, Command, claims, commands, sections
from tests.papers.table import document

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers.md"
FOLDERS = (ROOT / "tests" / "topologies", ROOT / "lvslab" / "bench" / "topologies")
TOPOLOGIES = {*shipped(), *(path.name for folder in FOLDERS for path in folder.iterdir())}
WITHOUT_KERNEL = {"schedule", "predict", "plan"}
OF_A_TOPOLOGY = {"verify", "walk", "up"}


def test_the_page_is_made_of_the_claims() -> None:
    text = document(sections())
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.claim[:40])
def test_a_claim_has_topology_command_and_test_or_is_open(claim: Claim) -> None:
    assert set(claim.topologies) <= TOPOLOGIES
    assert claim.open or (claim.topologies and claim.commands and claim.tests)


def collected(names: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Have pytest look for tests: it refuses a name that it does not find."""
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--no-header", "-p", "no:cacheprovider", *names]
    # Under CI, a run in which no kernel test passed has failed, and nothing is run here.
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)


def test_the_tests_exist() -> None:
    done = collected(sorted({name for claim in claims() for name in claim.tests}))
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_test_that_does_not_exist_is_noticed() -> None:
    assert collected(["tests/papers/test_papers.py::test_the_tests_exist[no such case]"]).returncode != 0


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.run)
def test_a_command_can_be_typed(command: Command) -> None:
    """Every verb takes its words, and a plan of the same topology knows its parameters and settings."""
    for verb, *words in command.calls:
        known = cli.get_command(click.Context(cli), verb)
        assert known is not None, verb
        with known.make_context(verb, list(words)):
            pass
        if verb in WITHOUT_KERNEL:
            runs(verb, *words)
        elif verb in OF_A_TOPOLOGY and "--lab" not in words:
            runs("plan", *(word for word in words if word != "--all"))


def runs(*words: str) -> None:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output


def test_what_is_not_there_is_noticed() -> None:
    for words in (["plan", "dr", "--without", "no_such_setting"], ["plan", "no-such-topology"]):
        assert CliRunner().invoke(cli, words).exit_code != 0
