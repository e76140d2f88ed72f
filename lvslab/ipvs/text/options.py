"""The command lines of `ipvsadm -R`: which options -A and -a take (ipvsadm.c: commands_v_options)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lvslab.errors import BadInput


class Argument(Enum):
    NONE = "none"
    NEEDED = "needed"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Option:
    """`only_one_of` names what at most one of may be given: options that choose one fact."""

    name: str
    argument: Argument
    only_one_of: str = ""


def _table(*rows: tuple[str, str, Argument, str]) -> dict[str, Option]:
    options = {}
    for short, long, argument, only_one_of in rows:
        option = Option(long, argument, only_one_of or long)
        options.update({spelling: option for spelling in (short, long) if spelling})
    return options


_SERVICE_KEY: Final = (
    ("-t", "--tcp-service", Argument.NEEDED, "service"),
    ("-u", "--udp-service", Argument.NEEDED, "service"),
    ("", "--sctp-service", Argument.NEEDED, "service"),
    ("-f", "--fwmark-service", Argument.NEEDED, "service"),
    ("-6", "--ipv6", Argument.NONE, ""),
)
ADD_SERVICE: Final = _table(
    *_SERVICE_KEY,
    ("-s", "--scheduler", Argument.NEEDED, ""),
    ("-p", "--persistent", Argument.OPTIONAL, ""),
    ("-M", "--netmask", Argument.NEEDED, ""),
    ("-o", "--ops", Argument.NONE, ""),
    ("", "--pe", Argument.NEEDED, ""),
    ("-b", "--sched-flags", Argument.NEEDED, ""),
)
ADD_SERVER: Final = _table(
    *_SERVICE_KEY,
    ("-r", "--real-server", Argument.NEEDED, ""),
    ("-m", "--masquerading", Argument.NONE, "forwarding method"),
    ("-i", "--ipip", Argument.NONE, "forwarding method"),
    ("-g", "--gatewaying", Argument.NONE, "forwarding method"),
    ("-w", "--weight", Argument.NEEDED, ""),
    ("-x", "--u-threshold", Argument.NEEDED, ""),
    ("-y", "--l-threshold", Argument.NEEDED, ""),
    ("", "--tun-type", Argument.NEEDED, ""),
    ("", "--tun-port", Argument.NEEDED, ""),
    ("", "--tun-nocsum", Argument.NONE, "tunnel checksum"),
    ("", "--tun-csum", Argument.NONE, "tunnel checksum"),
    ("", "--tun-remcsum", Argument.NONE, "tunnel checksum"),
)
COMMANDS: Final = {"-A": ADD_SERVICE, "--add-service": ADD_SERVICE, "-a": ADD_SERVER, "--add-server": ADD_SERVER}

_WITHOUT_DASHES: Final = {"ops": "-o", "pe": "--pe"}
"""What ipvsadm 1.26 printed, and cannot read itself."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line's options by long name, with their arguments; None for an option without one."""

    adds_service: bool
    given: Mapping[str, str | None]

    def has(self, name: str) -> bool:
        return name in self.given

    def text(self, name: str, default: str = "") -> str:
        """Return an option's argument, or a default if it was not given."""
        return self.given.get(name) or default


def parse_command(words: Sequence[str]) -> Command:
    """Return what a line says. Raises BadInput, without a place."""
    name, *rest = words
    table = COMMANDS.get(name)
    if table is None:
        raise BadInput("not a line of a saved table", expected="-A (a service) or -a (a server)", found=repr(name))
    given: dict[str, str | None] = {}
    chosen: dict[str, str] = {}
    for option, argument in _options(rest, table, name):
        if option.only_one_of in chosen:
            both = f"{chosen[option.only_one_of]} and {option.name}"
            raise BadInput(f"more than one {option.only_one_of}", expected="one", found=both)
        chosen[option.only_one_of] = option.name
        given[option.name] = argument
    return Command(table is ADD_SERVICE, given)


def _options(words: Sequence[str], table: Mapping[str, Option], command: str) -> Iterator[tuple[Option, str | None]]:
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        spelling, equals, attached = word.partition("=")
        option = table.get(spelling)
        if option is None:
            raise _unknown(word, command)
        if option.argument is Argument.NONE:
            if equals:
                raise BadInput(f"{spelling} takes no argument", found=repr(word))
            yield option, None
        elif equals:
            yield option, attached
        elif waiting and not waiting[0].startswith("-"):
            yield option, waiting.pop(0)
        elif option.argument is Argument.OPTIONAL:
            yield option, None
        elif waiting and option.name == "--fwmark-service":
            yield option, waiting.pop(0)  # a mark that ipvsadm printed as a negative number
        else:
            raise BadInput(f"{spelling} without its argument", found="nothing after it")


def _unknown(word: str, command: str) -> BadInput:
    if word in _WITHOUT_DASHES:
        written = _WITHOUT_DASHES[word]
        return BadInput(
            f"{word!r} without dashes, as ipvsadm 1.26 prints it and no ipvsadm reads it", next_step=f"write {written}"
        )
    known = ", ".join(sorted(ADD_SERVICE if command in ("-A", "--add-service") else ADD_SERVER))
    return BadInput(f"{command} has no such option", expected=f"one of {known}", found=repr(word))
