"""Plain values to YAML, every text quoted that a reader could take for something else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

WIDTH = 110
_TEMPLATE = re.compile(r"\{(?=[{%#])")
"""What begins an expression, a statement or a comment of Jinja2."""


def yaml_text(document: Mapping[str, Any], *, leaves_inline: bool = False) -> str:
    """Return a document as YAML; with `leaves_inline`, lists and mappings of nothing but scalars take a line each."""
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None if leaves_inline else False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = WIDTH
    yaml.dump(dict(document), stream)
    return stream.getvalue()


def without_template(text: str) -> str:
    """Return text that a topology's template renders as `text`, whatever there is in it."""
    return _TEMPLATE.sub('{{ "{" }}', text)
