"""The JSON Schema for a topology as it is written, before its template is filled in.

The schema of :mod:`lvslab.topology.document` is that of a rendered file: a scheduler is one of a list there. Written,
it may be ``"{{ scheduler }}"``; an editor must not mark that as wrong, and should go on marking ``rrr``. Mappings and
lists are written out in either, so that what is wrong inside of one is marked there.
"""

from __future__ import annotations

from typing import Any, Final

from lvslab.topology.document import json_schema

TEMPLATE: Final = {"type": "string", "pattern": r"\{\{.*\}\}|\{%.*%\}"}
_ANNOTATIONS: Final = ("title", "description", "default")
_REFERENCE: Final = "#/$defs/"


def editor_schema() -> dict[str, Any]:
    """Return the schema in which any single value may be a template's."""
    schema = json_schema()
    widening = _Widening(schema["$defs"])
    definitions = {name: widening.inside(each) for name, each in schema["$defs"].items()}
    return {**widening.inside(schema), "title": "A topology of lvslab, as it is written", "$defs": definitions}


class _Widening:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def inside(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema with the values inside of it widened."""
        wider = dict(schema)
        if "properties" in schema:
            wider["properties"] = {name: self._value(each) for name, each in schema["properties"].items()}
        for keyword in ("items", "additionalProperties"):
            if isinstance(schema.get(keyword), dict):
                wider[keyword] = self._value(schema[keyword])
        if "anyOf" in schema:
            wider["anyOf"] = [self.inside(each) for each in schema["anyOf"]]
        return wider

    def _value(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a value's schema that also takes a template; what it says of itself stays outside, for the editor."""
        wider = self.inside(schema)
        if self._written_out(schema):
            return wider
        said = {key: value for key, value in wider.items() if key in _ANNOTATIONS}
        meant = {key: value for key, value in wider.items() if key not in _ANNOTATIONS}
        return {**said, "anyOf": [meant, TEMPLATE]}

    def _written_out(self, schema: dict[str, Any]) -> bool:
        reference = schema.get("$ref", "")
        meant = self._definitions[reference.removeprefix(_REFERENCE)] if reference else schema
        return meant.get("type") in ("object", "array")
