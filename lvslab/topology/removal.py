"""``without:`` takes implied settings away again, so that a broken cluster is one line longer than a correct one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from lvslab.topology.faults import UnusableError
from lvslab.topology.groups import select
from lvslab.topology.model import Node, Setting
from lvslab.topology.wording import did_you_mean, one_of

_NAMES_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Removal:
    """``arp_ignore`` (from every node that has it) or ``arp_ignore@rs*``."""

    setting: Setting
    pattern: str | None


def parse_removal(text: str) -> Removal:
    """Return what ``SETTING`` or ``SETTING@NODES`` says; raises :class:`UnusableError`."""
    name, at, pattern = text.partition("@")
    if name not in set(Setting):
        raise UnusableError(
            "unknown setting", expected=one_of(Setting), found=repr(name), next_step=did_you_mean(name, Setting)
        )
    if at and not pattern:
        raise UnusableError("no node after '@'", expected="for example arp_ignore@rs1", found=repr(text))
    return Removal(Setting(name), pattern or None)


def remove_setting(nodes: tuple[Node, ...], removal: Removal, implied: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes without the setting; raises :class:`UnusableError` when none of those meant had it.

    `implied` are the nodes before any removal: what an earlier removal took away is no fault.
    """
    names = [node.name for node in nodes]
    meant = names if removal.pattern is None else select(removal.pattern, names)
    if not any(node.has(removal.setting) for node in implied if node.name in meant):
        raise UnusableError(
            "setting that no such node has",
            expected=f"one they have ({_settings_listed([node for node in implied if node.name in meant])})",
            found=str(removal.setting),
        )
    return tuple(
        replace(node, settings=node.settings - {removal.setting}) if node.name in meant else node for node in nodes
    )


def _settings_listed(nodes: Collection[Node]) -> str:
    """Return ``director: ip_forward, vip; rs1, rs2: server``, nodes with the same settings together."""
    by_settings: dict[frozenset[Setting], list[str]] = {}
    for node in nodes:
        by_settings.setdefault(node.settings, []).append(node.name)
    return "; ".join(
        f"{_names(names)}: {', '.join(sorted(settings)) or 'none'}" for settings, names in by_settings.items()
    )


def _names(names: list[str]) -> str:
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)} nodes)"
