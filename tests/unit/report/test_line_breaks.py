"""Lines of Chinese: full, and with no mark at an edge where it may not stand."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from lvslab.labs.loading import load_lab
from lvslab.labs.shipped import shipped_labs
from lvslab.labs.show import markdown
from lvslab.labs.words import Language
from lvslab.report.line_breaks import line_ends


def lines(text: str, width: int) -> list[str]:
    ends = [0, *line_ends(text, width), len(text)]
    return [text[first:last].rstrip() for first, last in pairwise(ends)]


@pytest.mark.parametrize(
    ("text", "width", "broken"),
    [
        ("一二三四五六", 6, ["一二三", "四五六"]),
        ("一二三，四五", 6, ["一二", "三，四", "五"]),
        ("一二（三四）", 6, ["一二", "（三", "四）"]),
        ("看 lvslab 的表", 8, ["看", "lvslab", "的表"]),
        ("用 tcpdump 看", 12, ["用 tcpdump", "看"]),
        ("words stay whole", 10, ["words stay", "whole"]),
        ("verylongword", 5, ["veryl", "ongwo", "rd"]),
        ("", 5, [""]),
    ],
)
def test_lines_end_where_they_may(text: str, width: int, broken: list[str]) -> None:
    assert lines(text, width) == broken


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("lab", shipped_labs(), ids=lambda path: path.name)
def test_no_mark_stands_where_it_may_not(lab: Path, width: int) -> None:
    instructions = load_lab(lab).instructions[Language.CHINESE]
    for text in (instructions.intro, *instructions.steps.values(), instructions.closing):
        console = Console(file=io.StringIO(), width=width)
        console.print(markdown(text, Language.CHINESE))
        assert isinstance(console.file, io.StringIO)
        for line in console.file.getvalue().splitlines():
            shown = line.strip(" │•▌")
            assert cell_len(line) <= width
            assert shown[:1] not in set("，。、；：）？"), line
            assert shown[-1:] not in set("（《“"), line
