"""A line's end inside a Chinese paragraph is no space; between a Chinese and a Latin word it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.labs.instructions import read_instructions

CASES = {
    "between characters": ("调度器\n改写", "调度器改写"),
    "after full-width punctuation, before a Latin word": ("改写，\nIP 不变", "改写，IP 不变"),
    "before a Latin word": ("改写\nIP 首部", "改写\nIP 首部"),
    "after a Latin word": ("改写 IP\n首部", "改写 IP\n首部"),
    "between paragraphs": ("改写。\n\n不变。", "改写。\n\n不变。"),
    "before a list": ("两点：\n- 一\n- 二", "两点：\n- 一\n- 二"),
    "after a proof": ("改写。 <!-- proof: walks -->\n不变。", "改写。不变。"),
    "in a list": ("- 询问\n  路由器，\n  `-g`", "- 询问路由器，`-g`"),
    "before an emphasised word": ("两台\n*真实服务器*", "两台*真实服务器*"),
    "before indented commands": ("输入：\n\n    client# ls", "输入：\n\n    client# ls"),
    "in English": ("one\ntwo", "one\ntwo"),
}


@pytest.mark.parametrize("case", CASES)
def test_lines_are_joined_as_the_language_has_it(tmp_path: Path, case: str) -> None:
    written, shown = CASES[case]
    path = tmp_path / "instructions.zh.md"
    path.write_text(written)
    assert read_instructions(path, {}).intro == shown + "\n"
