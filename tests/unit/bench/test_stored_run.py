"""The run that is stored, and the README's table of it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from lvslab.bench.everything import runs
from lvslab.cli.bench import VERBS
from lvslab.report.bench.all_documents import markdown

ROOT = Path(__file__).parents[3]
STORED = ROOT / "bench" / "results.json"
SECTION = re.compile(r"(?<=<!-- bench: made of bench/results\.json -->\n).*?(?=<!-- end of bench -->)", re.DOTALL)


def test_the_readme_shows_the_stored_run() -> None:
    """After another run is stored: ``UPDATE_GOLDEN=1 pytest tests/unit/bench``."""
    readme = ROOT / "README.md"
    made = "\n" + markdown(json.loads(STORED.read_text())) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        readme.write_text(SECTION.sub(lambda _found: made, readme.read_text()))
    assert SECTION.findall(readme.read_text()) == [made]


def test_the_stored_run_is_of_all_benchmarks() -> None:
    document = json.loads(STORED.read_text())
    assert [each["benchmark"] for each in document["benchmarks"]] == list(runs(None))
    assert document["schema"] == "urn:lvslab:schema:bench-all:1"


@pytest.mark.parametrize("name", list(VERBS))
def test_ratios_have_keys_of_their_own(name: str) -> None:
    document = json.loads(STORED.read_text())
    (found,) = [each for each in document["benchmarks"] if each["benchmark"] == name]
    keys = [ratio["ratio"] for part in found["parts"] for ratio in part["ratios"]]
    assert len(keys) == len(set(keys)) > 0
