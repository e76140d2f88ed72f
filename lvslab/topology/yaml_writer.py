"""Plain values to YAML, every text quoted that a reader could take for something else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import VersionedResolver

WIDTH = 110
_TEXT = "tag:yaml.org,2002:str"
_TEMPLATE = re.compile(r"\{(?=[{%#])")
"""What begins an expression, a statement or a comment of Jinja2."""


class _Representer(SafeRepresenter):
    """Quotes also what only YAML 1.1 takes for something else, such as `on` and `yes`."""

    _older = VersionedResolver(version=(1, 1))

    def represent_str(self, data: str) -> ScalarNode:
        text = str(self._older.resolve(ScalarNode, data, (True, False))) == _TEXT
        node: ScalarNode = self.represent_scalar(_TEXT, data, style=None if text else "'")
        return node


_Representer.add_representer(str, _Representer.represent_str)


def yaml_text(document: Mapping[str, Any], *, leaves_inline: bool = False, any_version: bool = False) -> str:
    """Return a document as YAML; with `leaves_inline`, lists and mappings of nothing but scalars take a line each.

    With `any_version`, a reader of YAML 1.1 reads the same; a topology is YAML 1.2, and has a key `on`.
    """
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None if leaves_inline else False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = WIDTH
    if any_version:
        yaml.Representer = _Representer
    yaml.dump(dict(document), stream)
    return stream.getvalue()


def without_template(text: str) -> str:
    """Return text that a topology's template renders as `text`, whatever there is in it."""
    return _TEMPLATE.sub('{{ "{" }}', text)
