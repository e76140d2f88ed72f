"""What the papers say and what proves it: the entries of claims.yaml, checked for their form."""

from __future__ import annotations

import shlex
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

FILE = Path(__file__).with_name("claims.yaml")


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Command(Entry):
    """A call of lvslab, or several one after the other, and the expectations that then fail."""

    run: str
    fails: tuple[str, ...] = ()

    @property
    def calls(self) -> list[list[str]]:
        return [shlex.split(call) for call in self.run.split(";")]

    @property
    def verbs(self) -> set[str]:
        return {call[0] for call in self.calls}


class Claim(Entry):
    claim: str
    topologies: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    tests: tuple[str, ...] = ()
    differs: str = ""
    open: str = ""


class Section(Entry):
    section: str
    papers: str
    claims: tuple[Claim, ...]


def sections() -> tuple[Section, ...]:
    return tuple(Section.model_validate(item) for item in YAML(typ="safe").load(FILE.read_text()))


def commands() -> tuple[Command, ...]:
    return tuple(dict.fromkeys(command for claim in claims() for command in claim.commands))


def claims() -> tuple[Claim, ...]:
    return tuple(claim for section in sections() for claim in section.claims)
