"""All benchmarks together: one run, one table, and the README's own."""

from __future__ import annotations

import io
import json

from lvslab.bench import everything
from lvslab.bench.everything import Outcome, run, runs
from lvslab.bench.result import Benchmark, Part, Ratio
from lvslab.cli.bench import VERBS
from lvslab.lab import Phase
from lvslab.report.bench.all_documents import all_document, markdown
from lvslab.report.bench.terminal import render_all
from lvslab.report.console import make_console

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
