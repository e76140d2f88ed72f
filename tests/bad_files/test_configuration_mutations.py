"""Whatever a slip of the hand makes of a configuration, it is judged with lines; what is sound becomes a topology."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lvslab.errors import BadInput
from lvslab.importing import Format, read_configuration, recognise, topology_text
from lvslab.importing.lint import verdict
from lvslab.topology import load_text
from tests.bad_files.configurations import GOOD

PATIENTLY = settings(deadline=None)
SNIPPETS = [
    *"{}[]:,-#!$@\"'\\/. \n\t0aé",
    *("-A ", "-a ", "-t ", "-f ", "-p", "-b ", "--tun-type ", "=", "::", "/24", "-9", "65536", "99999999999"),
    *("virtual_server ", "real_server ", "group ", "fwmark ", "{\n", "}\n", "weight ", "TUN ", "lvs_method "),
    *("  -> ", "TCP  ", "FWM  ", "persistent ", " mask ", "Masq", "{{", "{%"),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(list(GOOD.values())))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        removed = draw(st.integers(0, 12))
        text = text[:start] + draw(st.sampled_from(SNIPPETS) | st.just("")) + text[start + removed :]
    return text


def check(text: str, text_format: Format) -> None:
    try:
        configuration = read_configuration(text, "mutated", text_format)
        faults, warnings = verdict(configuration)
        assert all(str(fault.where).startswith("mutated:") for fault in (*faults, *warnings))
        if not faults:
            load_text(topology_text(configuration)[0], "made.yaml")
    except BadInput as error:
        assert all(line.startswith("mutated") for line in str(error).splitlines()), str(error)


@PATIENTLY
@given(mutated())
def test_mutated_files_are_judged_or_refused(text: str) -> None:
    text_format = recognise(text)
    if text_format is not Format.TOPOLOGY:
        check(text, text_format)


@PATIENTLY
@given(st.text(max_size=200), st.sampled_from((Format.SAVED, Format.LISTING, Format.KEEPALIVED)))
def test_any_text_at_all_is_judged_or_refused(text: str, text_format: Format) -> None:
    check(text, text_format)
