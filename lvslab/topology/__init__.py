"""Topologies: the frozen model, and loading one from a file with errors that name file, line and key."""

from lvslab.topology.document import json_schema
from lvslab.topology.implied import with_implied_settings
from lvslab.topology.loading import lint, load_text, load_topology
from lvslab.topology.shipped import shipped
from lvslab.topology.validation import validate

__all__ = [
    "json_schema",
    "lint",
    "load_text",
    "load_topology",
    "shipped",
    "validate",
    "with_implied_settings",
]
