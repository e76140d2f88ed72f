"""A benchmark as JSON, for other programs."""

from __future__ import annotations

from typing import Any

from lvslab.bench.result import Benchmark, Part, Ratio

SCHEMA_ID = "urn:lvslab:schema:bench:1"


def benchmark_document(benchmark: Benchmark, version: str) -> dict[str, Any]:
    """Return the outcome as plain values; `version` is lvslab's own. Rows are objects by the columns' keys."""
    return {
        "schema": SCHEMA_ID,
        "lvslab": version,
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "settings": dict(benchmark.settings),
        "parts": [_part(part) for part in benchmark.parts],
        "notes": list(benchmark.notes),
    }


def _part(part: Part) -> dict[str, Any]:
    keys = [column.key for column in part.columns]
    return {
        "part": part.key,
        "title": part.title,
        "kernel": part.kernel,
        "virtual_time": part.virtual_time,
        "rows": [dict(zip(keys, row, strict=True)) for row in part.rows],
        "ratios": [_ratio(ratio) for ratio in part.ratios],
        "values": dict(part.values),
        "readings": {name: list(values) for name, values in part.readings.items()},
        "facts": list(part.facts),
    }


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {"ratio": ratio.key, "text": ratio.text, "value": ratio.value, "aim": ratio.aim, "met": ratio.met}
