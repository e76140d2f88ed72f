"""Every expectation is explained in every language."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from lvslab.verify import expectations
from lvslab.verify.meanings import MEANINGS, meaning
from lvslab.walk.phrases import Language


def names() -> set[str]:
    """Return the names of all expectations there are: of each module its NAME, or its STATEMENT's."""
    paths = [f"{expectations.__name__}.{info.name}" for info in pkgutil.iter_modules(expectations.__path__)]
    modules = [importlib.import_module(path) for path in paths]
    found = {module.NAME for module in modules if hasattr(module, "NAME")}
    return found | {module.STATEMENT.name for module in modules if hasattr(module, "STATEMENT")}


def test_there_is_a_meaning_for_each_expectation_and_for_nothing_else() -> None:
    assert MEANINGS.keys() == names()
    assert len(names()) > 15


@pytest.mark.parametrize("name", sorted(MEANINGS))
def test_a_meaning_is_one_sentence_in_each_language(name: str) -> None:
    english, chinese = (meaning(name, language) for language in Language)
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert english.isascii()


def test_a_service_behind_the_name_changes_nothing() -> None:
    assert meaning("arp-owner tcp/192.0.2.1:80", Language.ENGLISH) == meaning("arp-owner", Language.ENGLISH)
    assert meaning("no-such", Language.ENGLISH) == ""
