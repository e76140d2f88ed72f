"""A table, written as ipvsadm's text and read again, is the same table; a changed text is another one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lvslab.errors import BadInput
from lvslab.ipvs import validate
from lvslab.ipvs.model import IntendedService
from lvslab.ipvs.text import read_saved, saved_text
from tests.unit.ipvs.support import TABLE
from tests.unit.ipvs.tables import tables

PATIENTLY = settings(deadline=None, max_examples=50)


def read(text: str) -> tuple[IntendedService, ...]:
    return tuple(written.intended for written in read_saved(text, "t"))


@PATIENTLY
@given(tables())
def test_what_is_written_is_read_again(table: tuple[IntendedService, ...]) -> None:
    for item in table:
        validate.check_intended(item)
    assert read(saved_text(table)) == table


def test_the_recorded_table_is_read_again() -> None:
    assert read(saved_text(TABLE)) == TABLE


@PATIENTLY
@given(tables(), st.data())
def test_no_word_of_a_text_is_without_effect(table: tuple[IntendedService, ...], data: st.DataObject) -> None:
    text = saved_text(table)
    words = text.split(" ")
    index = data.draw(st.integers(0, len(words) - 1))
    changed = " ".join([*words[:index], *words[index + 1 :]])
    try:
        again = read(changed)
    except BadInput as error:
        assert all(line.startswith("t:") for line in str(error).splitlines())
    else:
        assert again != table or not text or _says_a_default(words[index])


def _says_a_default(word: str) -> bool:
    """Words that name what holds without them."""
    return word in ("-g", "--tun-nocsum", "--tun-nocsum\n")
