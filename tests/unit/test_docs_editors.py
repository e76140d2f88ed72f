"""What docs/editors.md tells people to paste is what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lvslab.authoring.begin import topology_text
from lvslab.authoring.choices import Choices, Forwarding
from lvslab.topology import load_text

TEXT = (Path(__file__).parents[2] / "docs" / "editors.md").read_text()
BLOCK = re.compile(r"<!-- (?P<name>\w+) -->\n```\w+\n(?P<text>.*?)```\n", re.DOTALL)
BLOCKS = {found["name"]: found["text"] for found in BLOCK.finditer(TEXT)}
WRITTEN = re.compile(r"\./run schema editor > (\S+)")


def test_the_first_line_names_the_schema_that_was_written_and_lints_clean() -> None:
    line = BLOCKS["modeline"]
    assert line.endswith(f"$schema={WRITTEN.findall(TEXT)[0]}\n")
    assert load_text(line + topology_text(Choices("mine", Forwarding.TUN)), "mine.yaml").name == "mine"


def test_the_settings_are_json_and_name_the_same_schema() -> None:
    settings = json.loads(BLOCKS["vscode"])
    assert list(settings["yaml.schemas"]) == WRITTEN.findall(TEXT)
