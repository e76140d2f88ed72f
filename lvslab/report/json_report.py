"""Results as JSON, for other programs. The schema beside this module is published with the package."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from lvslab.verify.result import Result, TopologyResult, Verdict

SCHEMA_ID = "urn:lvslab:schema:verify:1"


def to_document(results: Iterable[TopologyResult], version: str) -> dict[str, object]:
    """Return the document that `verify.schema.json` describes; `version` is lvslab's own."""
    results = tuple(results)
    return {
        "schema": SCHEMA_ID,
        "lvslab": version,
        "verdict": Verdict.of(result.verdict for result in results).value,
        "results": [_topology(result) for result in results],
    }


def to_text(document: Mapping[str, object]) -> bytes:
    """Return `document` as indented JSON in UTF-8, one line feed at the end.

    Surrogates (undecodable bytes of a file name) become the escapes that RFC 8259, section 7, has for them.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", errors="backslashreplace")


def load_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the document."""
    schema: dict[str, Any] = json.loads(resources.files(__package__).joinpath("schema/verify.schema.json").read_bytes())
    return schema


def _topology(result: TopologyResult) -> dict[str, object]:
    return {
        "topology": result.topology,
        "kernel": result.kernel,
        "kernel_release": result.kernel_release,
        "virtual_time": result.virtual_time,
        "backend": result.backend,
        "verdict": result.verdict.value,
        "params": _plain(result.params),
        "seconds": dict(result.seconds),
        "frames": result.frames,
        "expectations": [_expectation(expectation) for expectation in result.expectations],
    }


def _expectation(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "verdict": result.verdict.value,
        "where": result.where,
        "frames": list(result.frames),
        "expected": result.expected,
        "seen": result.seen,
        "cause": result.cause,
        "next": result.next,
    }


def _plain(value: object) -> object:
    """Return a parameter's value as JSON has it; what JSON lacks (dates, addresses, infinity) becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)
