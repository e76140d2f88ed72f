"""up, ps, exec, shell and down where no lab is up: one line and a status, nothing heavy imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("lvslab")
HEAVY = ("pydantic", "jinja2", "ruamel", "pyroute2", "scapy", "rich")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LVSLAB_HOME", str(tmp_path))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["ps"], 0, "no lab is up"),
        (["down", "--all"], 0, ""),
        (["down"], 2, "no lab is up"),
        (["down", "dr"], 2, "no lab is up"),
        (["down", "dr", "--all"], 2, "not both"),
        (["exec", "rs1", "--", "true"], 2, "no lab is up"),
        (["exec", "rs1"], 2, "Missing argument"),
        (["exec", "rs1", "--"], 2, "Missing argument"),
        (["shell", "rs1"], 2, "no lab is up"),
        (["up", "dr", "--name", ""], 2, "no name for a lab"),
        (["up", "no-such"], 2, "no-such"),
    ],
)
def test_without_a_lab(words: list[str], status: int, said: str) -> None:
    done = run(*words)
    assert done.returncode == status
    assert said in done.stdout + done.stderr
    assert len((done.stdout + done.stderr).splitlines()) == (1 if said else 0)


def test_an_empty_list_is_json_too() -> None:
    assert json.loads(run("ps", "--json", "-").stdout) == []


@pytest.mark.parametrize("words", [["ps"], ["exec", "rs1", "true"], ["shell", "rs1"], ["down", "--all"]])
def test_nothing_heavy_is_imported(words: list[str]) -> None:
    script = (
        "import sys\nfrom lvslab.cli.main import main\ntry:\n    main(sys.argv[1:])\nexcept SystemExit:\n"
        f"    sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
