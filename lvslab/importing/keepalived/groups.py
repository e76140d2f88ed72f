"""virtual_server_group: several services under one name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lvslab.errors import BadInput
from lvslab.importing.finding import Finding
from lvslab.importing.keepalived.addresses import range_of
from lvslab.importing.keepalived.statements import Statement
from lvslab.ipvs.model import Family
from lvslab.ipvs.text.values import number_of
from lvslab.ipvs.validate import MAX_MARK, MAX_PORT
from lvslab.topology.model import Address
from lvslab.topology.wording import one_of


@dataclass(frozen=True, slots=True)
class Member:
    """An address and port, or a firewall mark; the family of a mark may be left to the servers."""

    line: int
    address: Address | None = None
    port: int = 0
    mark: int = 0
    family: Family | None = None


@dataclass(slots=True)
class Groups:
    """The groups of a file, which may stand after their use."""

    members: dict[str, tuple[Member, ...]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def of(cls, statements: Iterable[Statement]) -> Groups:
        groups = cls()
        for statement in statements:
            if statement.keyword == "virtual_server_group" and len(statement.words) > 1:
                groups.members[statement.words[1]] = tuple(groups._members(statement.within))
        return groups

    def _members(self, entries: Iterable[Statement]) -> Iterator[Member]:
        for entry in entries:
            try:
                yield from members_of(entry.words, entry.line)
            except BadInput as error:
                self.findings.append(Finding.of(error, entry.line))

    def named(self, name: str) -> tuple[Member, ...]:
        """Return a group's members. Raises BadInput, without a place, if there is no such group."""
        if name not in self.members:
            raise BadInput("unknown virtual_server_group", expected=one_of(self.members), found=repr(name))
        return self.members[name]


def members_of(words: list[str], line: int) -> Iterator[Member]:
    """Read `ADDRESS [PORT]`, with a range of addresses perhaps, or `fwmark NUMBER [inet|inet6]`."""
    if words[0] != "fwmark":
        port = number_of(words[1], "port", 0, MAX_PORT) if len(words) > 1 else 0
        for address in range_of(words[0]):
            yield Member(line, address, port)
        return
    if len(words) < 2:
        raise BadInput("fwmark without its value")
    families = {"inet": Family.IPV4, "inet6": Family.IPV6}
    family = families.get(words[2]) if len(words) > 2 else None
    yield Member(line, mark=number_of(words[1], "firewall mark", 1, MAX_MARK), family=family)
