"""A topology's description as text that needs nothing else: parameters and removals filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_JINJA_OPENINGS = ("{{", "{%", "{#")


def as_text(data: Mapping[str, object], params: Mapping[str, object], without: Sequence[str]) -> str:
    """Return rendered data as YAML, one top-level key per line, so that loading it again gives the same topology.

    `without` is added to what the file itself removes. A capture file carries this text and can be judged anywhere.
    """
    removals = data.get("without") or []
    others = {key: value for key, value in data.items() if key != "without"}
    whole = {**others, "params": params, "without": [*removals, *without] if isinstance(removals, list) else removals}
    return "".join(f"{key}: {_json(value)}\n" for key, value in whole.items())


def _json(value: object) -> str:
    """Return JSON, which is YAML 1.2, with nothing in it that Jinja2 would take for its own."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for opening in _JINJA_OPENINGS:
        text = text.replace(opening, f"\\u{ord(opening[0]):04x}{opening[1]}")
    return text
