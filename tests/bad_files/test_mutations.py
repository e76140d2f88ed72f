"""Whatever a slip of the hand makes of a shipped file, it loads or is refused with lines: nothing else is raised."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lvslab.errors import BadInput
from lvslab.topology import load_text, shipped
from lvslab.topology.shipped import find
from tests.bad_files.cases import GOOD

TEXTS = [GOOD, *(find(name).read_text(encoding="utf-8") for name in shipped())]
PATIENTLY = settings(deadline=None)  # a time limit would fail on a busy machine, not on a fault
SNIPPETS = [
    *"{}[]:,-#&*!|>'\"%@`?+/.\\ \n\t\r0aé\u2028\ufdd0\x00",
    *(
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        "{% raw %}",
        "{{ 1 }}",
        "{% for x in 'ab' %}",
        "{% endfor %}",
        "---",
        "...",
        "- ",
    ),
    *(
        "null",
        "true",
        "-1",
        "1e99",
        "99999999999999999999",
        "%YAML 1.1",
        "<<: ",
        "? ",
        "::",
        "[1-",
        "]",
        "@",
        "params:",
    ),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        removed = draw(st.integers(0, 12))
        text = text[:start] + draw(st.sampled_from(SNIPPETS) | st.just("")) + text[start + removed :]
    return text


def check_load(text: str) -> None:
    try:
        load_text(text, "mutated.yaml")
    except BadInput as error:
        assert error.exit_status == 2
        assert all(line.startswith("mutated.yaml") for line in str(error).splitlines()), str(error)


@PATIENTLY
@given(mutated())
def test_mutated_files_load_or_are_refused(text: str) -> None:
    check_load(text)


@PATIENTLY
@given(st.sampled_from(TEXTS), st.data())
def test_files_with_two_lines_swapped_load_or_are_refused(text: str, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    first, second = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    lines[first], lines[second] = lines[second], lines[first]
    check_load("".join(lines))


@PATIENTLY
@given(st.text(max_size=200))
def test_any_text_at_all_loads_or_is_refused(text: str) -> None:
    check_load(text)
