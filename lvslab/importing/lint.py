"""Checking files of every format there is: topologies, and directors' configurations."""

from __future__ import annotations

from dataclasses import dataclass

from lvslab.errors import BadInput, BadInputs
from lvslab.importing.configuration import Configuration, Format
from lvslab.importing.read import read_configuration
from lvslab.importing.recognise import recognise
from lvslab.importing.rules import judge
from lvslab.topology.loading import lint as lint_topologies
from lvslab.topology.shipped import find
from lvslab.topology.source import read_source


@dataclass(frozen=True, slots=True)
class Linted:
    """What a file is, and what is wrong with it; `format` is None if it cannot be read at all."""

    format: Format | None
    faults: tuple[BadInput, ...]
    warnings: tuple[BadInput, ...] = ()


def lint_file(name_or_path: str) -> Linted:
    """Check a shipped topology or any file."""
    try:
        path = find(name_or_path)
        text = read_source(path)
    except BadInput as error:
        return Linted(None, (error,))
    text_format = recognise(text)
    if text_format is Format.TOPOLOGY:
        return Linted(text_format, lint_topologies([name_or_path]))
    try:
        faults, warnings = verdict(read_configuration(text, str(path), text_format))
    except BadInputs as several:
        return Linted(text_format, several.faults)
    except BadInput as error:
        return Linted(text_format, (error,))
    return Linted(text_format, faults, warnings)


def verdict(configuration: Configuration) -> tuple[tuple[BadInput, ...], tuple[BadInput, ...]]:
    """Return faults and warnings of a configuration, with file and line."""
    findings = judge(configuration)
    faults = tuple(each.bad_input(configuration.source) for each in findings if not each.is_warning)
    return faults, tuple(each.bad_input(configuration.source) for each in findings if each.is_warning)
