"""All benchmarks together: one run, one table, and the README's own."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest

from lvslab.bench import everything
from lvslab.bench.everything import Outcome, run, runs
from lvslab.bench.result import Benchmark, Part, Ratio
from lvslab.cli.bench import VERBS
from lvslab.lab import Phase
from lvslab.report.bench.all_documents import all_document, markdown
from lvslab.report.bench.terminal import render_all
from lvslab.report.console import make_console

ROOT = Path(__file__).parents[3]
STORED = ROOT / "bench" / "results.json"
SECTION = re.compile(r"(?<=<!-- bench: made of bench/results\.json -->\n).*?(?=<!-- end of bench -->)", re.DOTALL)
RATIOS = (
    Ratio("fast", "lvslab / another", 0.25, at_most=0.5),
    Ratio("slow", "lvslab / the least", 3.0, at_most=2.0),
    Ratio("known", "one | another", 1.5),
)


def benchmark(name: str, *ratios: Ratio) -> Benchmark:
    part = Part(name, name, "uml 6.1", virtual_time=False, columns=(), rows=(), facts=(), ratios=ratios)
    return Benchmark(name, name, (part,), {})


OUTCOME = Outcome((benchmark("build", *RATIOS[:2]), benchmark("walk", RATIOS[2])), 300.0, 2, 0.1, 1.9)


def test_every_benchmark_with_a_command_is_in_the_run() -> None:
    assert set(runs(None)) == set(VERBS)


def test_one_run_does_them_in_turn_and_says_what_else_the_machine_did() -> None:
    done = []

    def measured(name: str) -> everything.Run:
        def measure(_phase: Phase) -> Benchmark:
            done.append(name)
            return benchmark(name)

        return measure

    outcome = run(chosen={name: measured(name) for name in ("one", "two")})
    assert done == [each.name for each in outcome.benchmarks] == ["one", "two"]
    assert outcome.processors >= 1
    assert outcome.load_after >= 0


def test_the_terminal_shows_all_ratios_in_one_table_and_marks_what_is_missed() -> None:
    stream = io.StringIO()
    make_console(stream).print(render_all(OUTCOME))
    lines = [line.split() for line in stream.getvalue().splitlines()]
    assert ["lvslab", "/", "another", "0.25", "≤", "0.5", "✓"] in lines
    assert ["lvslab", "/", "the", "least", "3", "≤", "2", "✗", "missed"] in lines


def test_the_document_holds_each_benchmark_and_the_machine() -> None:
    document = json.loads(json.dumps(all_document(OUTCOME, "0.1.0")))
    assert document["machine"] == {"processors": 2, "load_before": 0.1, "load_after": 1.9}
    assert [each["benchmark"] for each in document["benchmarks"]] == ["build", "walk"]
    (part,) = document["benchmarks"][0]["parts"]
    assert part["ratios"][1] == {
        "ratio": "slow",
        "text": "lvslab / the least",
        "value": 3.0,
        "aim": "≤ 2",
        "met": False,
    }


def test_the_table_in_markdown_has_a_row_for_each_ratio() -> None:
    rows = markdown(all_document(OUTCOME, "0.1.0")).splitlines()
    assert "| build | lvslab / another | 0.25 | ≤ 0.5 | met |" in rows
    assert "| build | lvslab / the least | 3 | ≤ 2 | missed |" in rows
    assert r"| walk | one \| another | 1.5 |  |  |" in rows


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
