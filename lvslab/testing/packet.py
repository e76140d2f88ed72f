"""Assertions about the way of one packet. Each returns what the next one is about, so that they make a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Self

from lvslab.errors import BadInput
from lvslab.topology.wording import did_you_mean, one_of
from lvslab.walk.changes import Change, changes_between
from lvslab.walk.words import Field

if TYPE_CHECKING:
    from lvslab.walk.model import Hop, Names, Walk


class PacketWay:
    """One packet and the nodes it came by, or nothing where no such packet was seen."""

    def __init__(self, what: str, walk: Walk | None, names: Names, nodes: Collection[str]) -> None:
        """`what` it is called in messages; `nodes` are all that there are."""
        self._what = what
        self._names = names
        self._known = nodes
        self._at: str | None = None
        self.walk = walk

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on its way, in order; none if there was no such packet."""
        return self.walk.nodes if self.walk is not None else ()

    def passes(self, *nodes: str) -> Self:
        """Assert that it comes by these nodes in this order; what follows is about the last of them."""
        __tracebackhide__ = True
        _need(nodes, "passes", "a node")
        self._check_names(nodes)
        way = iter(self.nodes)
        missed = next((node for node in nodes if node not in way), None)
        if missed is not None:
            after = f" after {nodes[nodes.index(missed) - 1]}" if nodes.index(missed) else ""
            raise AssertionError(f"{self._what} does not pass {missed}{after}: {self._way()}")
        narrowed = copy(self)
        narrowed._at = nodes[-1]
        return narrowed

    def avoids(self, *nodes: str) -> Self:
        """Assert that it comes by none of these nodes."""
        __tracebackhide__ = True
        _need(nodes, "avoids", "a node")
        self._check_names(nodes)
        self._need_walk()
        passed = [node for node in nodes if node in self.nodes]
        if passed:
            raise AssertionError(f"{self._what} passes {', '.join(passed)}: {self._way()}")
        return self

    def reaches(self, node: str) -> Self:
        """Assert that this node takes it in, at the end of its way."""
        __tracebackhide__ = True
        self._check_names([node])
        if self.walk is None or node not in [hop.node for hop in self.walk.receivers]:
            raise AssertionError(f"{self._what} does not reach {node}: {self._way()}")
        return self

    def changes(self, *fields: str, only: Collection[str] | None = None) -> Self:
        """Assert that these fields are changed; with `only`, that these are and no others.

        It is about the node that was named last (`passes`), else about the whole way. That a node sends from its own
        MAC address goes without saying: "source MAC" counts only where it is listed. With `only` of nothing, nothing is
        changed.
        """
        __tracebackhide__ = True
        if only is None:
            _need(fields, "changes", "a field, or only=")
        listed = (only,) if isinstance(only, str) else only or ()
        wanted = {_field(name) for name in (*fields, *listed)}
        found = self._changes()
        missing = sorted(wanted - {change.field for change in found})
        if missing:
            said = [change for change in found if change.sentence]
            raise AssertionError(f"{self._subject()} does not change {', '.join(missing)}, but {_listed(said)}")
        beyond = [change for change in found if change.field not in wanted and change.sentence]
        if only is not None and beyond:
            raise AssertionError(f"{self._subject()} also changes {_listed(beyond)}")
        return self

    def keeps(self, *fields: str) -> Self:
        """Assert that none of these fields is changed, there where `changes` would look."""
        __tracebackhide__ = True
        _need(fields, "keeps", "a field")
        wanted = {_field(name) for name in fields}
        changed = [change for change in self._changes() if change.field in wanted]
        if changed:
            raise AssertionError(f"{self._subject()} changes {_listed(changed)}")
        return self

    def _changes(self) -> list[Change]:
        """Return what each stay at a node changed; a hop from node to node changes nothing."""
        __tracebackhide__ = True
        walk = self._need_walk()
        stays = [stay for node, stay in _stays(walk) if self._at in (None, node)]
        return [change for stay in stays for change in changes_between(stay[0], stay[-1], self._names)]

    def _need_walk(self) -> Walk:
        __tracebackhide__ = True
        if self.walk is None:
            raise AssertionError(self._way())
        return self.walk

    def _subject(self) -> str:
        return f"{self._at or 'the way'} ({self._what})"

    def _way(self) -> str:
        return " → ".join(self.nodes) if self.walk is not None else f"no packet of {self._what} was seen"

    def _check_names(self, nodes: Sequence[str]) -> None:
        for name in nodes:
            if name not in self._known:
                raise BadInput(
                    f"no node {name!r}", expected=one_of(self._known), next_step=did_you_mean(str(name), self._known)
                )


def _need(names: Sequence[str], assertion: str, expected: str) -> None:
    """Raise BadInput for an assertion of nothing, which would always hold."""
    __tracebackhide__ = True
    if not names:
        raise BadInput("asserts nothing", where=f".{assertion}()", expected=expected)


def _stays(walk: Walk) -> Iterator[tuple[str, list[Hop]]]:
    return ((node, list(hops)) for node, hops in groupby(walk.hops, key=lambda hop: hop.node))


def _field(name: str) -> Field:
    known = [field.value for field in Field]
    if name not in known:
        raise BadInput(f"no field {name!r}", expected=one_of(known), next_step=did_you_mean(str(name), known))
    return Field(name)


def _listed(changes: Sequence[Change]) -> str:
    facts = (f"{change.field} ({change.old or 'none'} → {change.new or 'none'})" for change in changes)
    return ", ".join(facts) or "nothing"
