"""What the shell offers when the Tab key is pressed (click's protocol: COMP_WORDS, COMP_CWORD, _LVSLAB_COMPLETE)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from lvslab.cli.main import VERBS, cli
from lvslab.kernels import attach
from lvslab.kernels.attach import LabRecord, NodeRecord
from lvslab.lab import shipped_topologies

COMMAND = Path(sys.executable).with_name("lvslab")


def lab(name: str, *nodes: str) -> LabRecord:
    records = tuple(NodeRecord(node, "client", ()) for node in nodes)
    return LabRecord(name, "/nowhere", "uml", "6.1", name, "", "", records, (), 0.0)


@pytest.fixture
def up(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make it appear that these labs are up."""

    def pretend(*records: LabRecord) -> None:
        monkeypatch.setattr(attach, "labs", lambda: records)
        monkeypatch.setattr(LabRecord, "is_up", True)

    return pretend


def offered(*words: str) -> list[str]:
    """Return what is offered for the last word."""
    found = BashComplete(cli, {}, "lvslab", "_LVSLAB_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found]


@pytest.mark.parametrize("verb", ["verify", "walk", "up", "plan", "graph"])
def test_topologies(verb: str) -> None:
    assert offered(verb, "") == list(shipped_topologies())
    assert offered(verb, "r") == ["rr-dns"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["verify", "--lab", ""], ["dr", "nat"]),
        (["walk", "--lab", "n"], ["nat"]),
        (["down", "d"], ["dr"]),
        (["exec", "--lab", ""], ["dr", "nat"]),
        (["exec", "--lab", "dr", "r"], ["rs1", "rs2"]),
        (["shell", "--lab", "nat", ""], ["director"]),
        (["capture", "--lab", "dr", "rs1", "c"], ["client"]),
        (["exec", ""], []),
        (["shell", "--lab", "gone", ""], []),
    ],
)
def test_labs_and_their_nodes(up: Callable[..., None], words: list[str], names: list[str]) -> None:
    up(lab("dr", "client", "rs1", "rs2"), lab("nat", "director"))
    assert offered(*words) == names


def test_nodes_of_the_only_lab(up: Callable[..., None]) -> None:
    up(lab("dr", "client", "rs1"))
    assert offered("shell", "") == ["client", "rs1"]


def in_bash(*words: str) -> list[str]:
    """Press Tab behind the last word in a bash that has read the completion script; return its COMPREPLY."""
    script = (
        'eval "$(_LVSLAB_COMPLETE=bash_source lvslab)"; COMP_WORDS=(lvslab "$@"); COMP_CWORD=$#; '
        'complete -p lvslab >&2; _lvslab_completion lvslab; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words],
        env={**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "-F _lvslab_completion lvslab" in done.stderr
    return done.stdout.split()


def test_in_bash_itself() -> None:
    assert in_bash("topo") == ["topologies"]
    assert set(in_bash("")) == set(VERBS)
    assert in_bash("verify", "rr") == ["rr-dns"]


def test_where_no_topology_begins_like_that_files_are_offered(tmp_path: Path) -> None:
    found = BashComplete(cli, {}, "lvslab", "_LVSLAB_COMPLETE").get_completions(["verify"], str(tmp_path))
    assert [(item.type, item.value) for item in found] == [("file", str(tmp_path))]
