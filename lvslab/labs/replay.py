"""Which commands of a submission grading types: those that `snapshot` writes, and no others.

A submission is a file that anybody can write. What is run again is root's in the guest, whose root file system is the
machine's; so each line is read, and only what can change nothing but a node's network is written anew for the shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from lvslab.labs.snapshot import ARP_FILTERS, FILTERS, MADE_KINDS

MAX_LINES = 20_000
_END = "END"
_WORD = r"[A-Za-z0-9_.:/@%+-]+"
_NAME = r"[A-Za-z0-9_.@-]{1,15}"
_PAIRS = rf"(?: [a-z][a-z_]* {_WORD})*"
_IP_COMMANDS = (
    rf"ip link del {_NAME}",
    rf"ip link add {_NAME} type (?:{'|'.join(MADE_KINDS)})(?: (?:remote|local) {_WORD})*",
    rf"ip link set {_NAME} (?:mtu [0-9]+|arp on|arp off|up|down)",
    rf"ip address replace {_WORD} dev {_NAME}",
    rf"ip route replace {_WORD}{_PAIRS}",
    rf"ip neighbour replace {_WORD} lladdr {_WORD} dev {_NAME} nud permanent",
    rf"ip address del {_WORD} dev {_NAME} \|\| true",
    rf"ip route del {_WORD}{_PAIRS} \|\| true",
    rf"ip neighbour del {_WORD} lladdr {_WORD} dev {_NAME} \|\| true",
)
_IP = re.compile("|".join(f"(?:{command})" for command in _IP_COMMANDS))
_SYSCTL = re.compile(r"echo (?P<value>.+) > /proc/sys/(?P<path>net/ipv[46](?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+)")
_RESTORE = re.compile(rf"(?P<tool>{'|'.join(FILTERS)})-restore <<'{_END}'")
_TABLE = re.compile(r"\*[a-z]+|COMMIT|:[A-Za-z0-9_-]+ (?:ACCEPT|DROP|-) \[0:0\]")
_ARP = re.compile(rf"{ARP_FILTERS} (?P<rest>-F|-P [A-Z]+ [A-Z]+|-A .+)")
_IPVS_WORDS = re.compile(r"[A-Za-z0-9_.:/%,\[\]-]+")
_EXTENSION = re.compile(r"[A-Za-z0-9_]+")
_NAMES_AN_EXTENSION = ("-m", "--match", "-j", "--jump", "-g", "--goto")
_MODPROBE = "--modprobe"
"""An option of iptables that names a program to run (iptables(8))."""


class ForeignCommandError(Exception):
    """A line that no snapshot has."""


def retyped(script: str) -> str:
    """Return the script with each word quoted. Raises ForeignCommandError."""
    lines = script.splitlines()
    if len(lines) > MAX_LINES:
        raise ForeignCommandError(f"{len(lines)} lines, more than {MAX_LINES}")
    return "".join(f"{line}\n" for line in _commands(iter(lines)))


def _commands(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("#"):
            continue
        if found := _RESTORE.fullmatch(line):
            yield from _restore(found["tool"], lines)
        elif found := _SYSCTL.fullmatch(line):
            yield f"echo {_quoted_value(found['value'], line)} > /proc/sys/{found['path']}"
        elif found := _ARP.fullmatch(line):
            yield f"{ARP_FILTERS} {shlex.join(_rule(found['rest'], line))}"
        elif line.startswith("ipvsadm "):
            yield f"ipvsadm {shlex.join(_service(line))}"
        elif _IP.fullmatch(line):
            yield line
        else:
            raise ForeignCommandError(line)


def _restore(tool: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{tool}-restore <<'{_END}'"
    for line in lines:
        if line == _END:
            yield _END
            return
        if line.startswith("-A "):
            _rule(line, line)
            yield line
        elif _TABLE.fullmatch(line):
            yield line
        else:
            raise ForeignCommandError(line)
    raise ForeignCommandError(f"{tool}-restore without {_END}")


def _rule(text: str, line: str) -> list[str]:
    """Return a rule's words; none names a program, or a library by its path.

    iptables-restore knows double quotes only, and so do these words.
    """
    if not line.isprintable() or any(sign in line for sign in "'\\`"):
        raise ForeignCommandError(line)
    words = _words(text, line)
    for before, word in zip(["", *words], words, strict=False):
        option = word.partition("=")[0]
        runs = word.startswith("-M") or (option.startswith("--m") and _MODPROBE.startswith(option))
        named = before in _NAMES_AN_EXTENSION and not _EXTENSION.fullmatch(word)
        glued = word[:2] in ("-m", "-j", "-g") and len(word) > 2
        if runs or named or glued:
            raise ForeignCommandError(line)
    return words


def _service(line: str) -> list[str]:
    _, command, *words = _words(line, line)
    if command not in ("-C", "-A", "-a", "--set") or not all(map(_IPVS_WORDS.fullmatch, words)):
        raise ForeignCommandError(line)
    return [command, *words]


def _quoted_value(text: str, line: str) -> str:
    words = _words(text, line)
    if len(words) != 1 or not words[0].isprintable():
        raise ForeignCommandError(line)
    return shlex.quote(words[0])


def _words(text: str, line: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ForeignCommandError(line) from error
