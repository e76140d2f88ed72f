"""Every fault of an imported file is named with its line, and the good file it was made from has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.importing import Format, recognise
from lvslab.importing.lint import lint_file
from tests.bad_files.cases import GOOD as TOPOLOGY
from tests.bad_files.configurations import CONFIGURATIONS, GOOD, KEEPALIVED, LISTING, RULES, BadConfiguration

FORMATS = {RULES: Format.SAVED, LISTING: Format.LISTING, KEEPALIVED: Format.KEEPALIVED}


@pytest.mark.parametrize("name", GOOD)
def test_the_files_the_bad_ones_are_made_from_are_good(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(GOOD[name])
    linted = lint_file(str(path))
    assert (linted.format, linted.faults, linted.warnings) == (FORMATS[name], (), ())


def test_cases_have_names_of_their_own() -> None:
    names = [case.name for case in CONFIGURATIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CONFIGURATIONS, ids=lambda case: case.name)
def test_a_bad_configuration_is_named_at_its_line_and_in_words(case: BadConfiguration, tmp_path: Path) -> None:
    path = tmp_path / "bad"
    path.write_text(case.text)
    linted = lint_file(str(path))
    found = [error.as_line() for error in (linted.warnings if case.warning else linted.faults)]
    there = [line for line in found if line.startswith(f"{path}:{case.line}: ")]
    assert any(all(word in line for word in case.words) for line in there), found
    assert not (case.warning and linted.faults), "a warning's example must be sound"


@pytest.mark.parametrize("name", GOOD)
def test_line_numbers_hold_with_windows_line_ends(name: str, tmp_path: Path) -> None:
    case = next(each for each in CONFIGURATIONS if each.good == name and "duplicate" in each.name)
    path = tmp_path / "bad"
    path.write_bytes(("\ufeff" + case.text.replace("\n", "\r\n")).encode())
    assert [error.where for error in lint_file(str(path)).faults] == [f"{path}:{case.line}"]


def test_a_topology_is_still_told_from_the_others() -> None:
    assert recognise(TOPOLOGY) is Format.TOPOLOGY
    assert [recognise(text) for text in GOOD.values()] == [FORMATS[name] for name in GOOD]
