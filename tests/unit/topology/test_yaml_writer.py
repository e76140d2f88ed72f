"""Texts stay texts for every reader of what is written, whichever version of YAML it knows."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from lvslab.topology.yaml_reader import read_yaml
from lvslab.topology.yaml_writer import yaml_text

TEXTS = ["yes", "on", "off", "n", "null", "~", "true", "1e3", "1.5e+3", "0x10", "0o7", "010", "7", "1:20", "2001-01-02"]
TEXTS += ["", " ", "a:b", "a: b", "#x", "x #y", "it's", 'say "x"', "[", "{{7}}", "- x", "a\nb", "\a", "é", "=", "<<"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("leaves_inline", [True, False])
@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_a_text_is_read_as_that_text(text: str, leaves_inline: bool, version: tuple[int, int]) -> None:
    document = {"names": {text: text}, "list": [text]}
    written = yaml_text(document, leaves_inline=leaves_inline, any_version=version != (1, 2))
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    assert reader.load(written) == document
    assert read_yaml(written, "written").data == document


def test_plain_texts_are_left_plain() -> None:
    document = {"on": {"lan": "10.1.0.1"}, "kind": "linux"}
    assert yaml_text(document) == "on:\n  lan: 10.1.0.1\nkind: linux\n"
    assert yaml_text(document, any_version=True) == "'on':\n  lan: 10.1.0.1\nkind: linux\n"
