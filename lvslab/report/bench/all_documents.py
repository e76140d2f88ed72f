"""All benchmarks of one run: as one JSON document, and as the README's table made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lvslab.bench.everything import Outcome
from lvslab.report.bench.json_document import benchmark_document

SCHEMA_ID = "urn:lvslab:schema:bench-all:1"
MET = {True: "met", False: "missed", None: ""}


def all_document(outcome: Outcome, version: str) -> dict[str, Any]:
    """Return the whole run as plain values; `version` is lvslab's own."""
    return {
        "schema": SCHEMA_ID,
        "lvslab": version,
        "seconds": outcome.seconds,
        "machine": {
            "processors": outcome.processors,
            "load_before": outcome.load_before,
            "load_after": outcome.load_after,
        },
        "benchmarks": [benchmark_document(benchmark, version) for benchmark in outcome.benchmarks],
    }


def markdown(document: Mapping[str, Any]) -> str:
    """Return the run's ratios as a Markdown table, and what they were measured on."""
    machine = document["machine"]
    lines = [
        f"One run of `./run bench`, {document['seconds'] / 60:.0f} minutes on {machine['processors']} processors "
        f"(load {machine['load_before']:.1f} before, {machine['load_after']:.1f} after; an idle machine has 0). Ratios "
        "compare what was measured side by side in that run.",
        "",
        "| benchmark | ratio | value | aim | |",
        "| --- | --- | --- | --- | --- |",
        *_rows(document["benchmarks"]),
    ]
    return "\n".join(lines) + "\n"


def _rows(benchmarks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for benchmark in benchmarks:
        for part in benchmark["parts"]:
            for ratio in part["ratios"]:
                text = ratio["text"].replace("|", r"\|")
                cells = (benchmark["benchmark"], text, f"{ratio['value']:.3g}", ratio["aim"], MET[ratio["met"]])
                yield f"| {' | '.join(cells)} |"
