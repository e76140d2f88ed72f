"""Rendering keeps track of source lines whatever Jinja2 does to them."""

from __future__ import annotations

import re

import pytest

from lvslab.errors import BadInput
from lvslab.topology.rendering import render

TEMPLATES = {
    "plain": "L1\nL2\n\nL4\n",
    "no-final-newline": "L1\nL2",
    "loop": "L1\n{% for i in range(3) %}\nL3\nL4\n{% endfor %}\nL6\n",
    "loop-on-one-line": "L1\n{% for i in 'ab' %}L2 {{ i }}\n{% endfor %}L3\n",
    "nested-loops": "{% for i in 'ab' %}\nL2\n{% for j in 'cd' %}\nL4\n{% endfor %}\nL6\n{% endfor %}\nL8\n",
    "untaken-branch": "L1\n{% if false %}\nL3\n{% else %}\nL5\n{% endif %}\nL7\n",
    "comment": "L1\n{# one\ntwo\nthree #}\nL5\n",
    "trimming": "L1\n{%- if true %}\n\nL4\n{%- endif %}\n\nL7\n",
    "raw": "L1\n{% raw %}\nL3 {{ }}\n{% endraw %}\nL5\n",
    "line-begins-with-expression": "L1\n{{ 'L2' }}\n{{ 'L3' }} {{ 'x' }}\nL4\n",
    "macro": "{% macro m() %}\nL2\nL3\n{% endmacro %}\nL5\n{{ m() }}L6\nL7\n",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_rendered_line_knows_its_source_line(name: str) -> None:
    rendered = render(TEMPLATES[name], "x.yaml", {})
    found = [(number, re.search(r"L(\d+)", line)) for number, line in enumerate(rendered.text.split("\n"), 1)]
    tagged = [(number, int(tag.group(1))) for number, tag in found if tag]
    assert tagged
    for number, source_line in tagged:
        assert rendered.source_line(number) == source_line


def test_marks_leave_no_trace_in_the_text() -> None:
    assert render("a: {{ x }}\n\n  b: [{{ x }}]\n", "x.yaml", {"x": 1}).text == "a: 1\n\n  b: [1]\n"


def test_a_loop_that_makes_too_much_text_is_stopped() -> None:
    with pytest.raises(BadInput, match="too much text"):
        render("{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}", "x.yaml", {})


def test_a_fault_names_the_parameters_there_are() -> None:
    with pytest.raises(BadInput, match=r"x\.yaml:2: Jinja2: 'b' is undefined; parameters of this topology: a"):
        render("x\n{{ b }}", "x.yaml", {"a": 1})
