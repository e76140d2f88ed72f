"""What a page of bounded size shows, and that nothing is left out without being counted."""

from __future__ import annotations

from collections import Counter

import pytest

from lvslab.report.html.selection import Chosen, select
from lvslab.walk import find_walks
from lvslab.walk.model import Conversation
from lvslab.walk.select import connections
from tests.unit.report.html.support import elements, packets_page, parsed, texts
from tests.unit.walk import build
from tests.unit.walk.mixed import mixed_capture

WALKS = find_walks(build.dr(connections=6))
MIXED = find_walks(mixed_capture(rounds=40))


def hops_of(chosen: Chosen) -> int:
    assert chosen.conversation is not None
    return sum(len(walk.hops) for walk in chosen.conversation.walks)


def numbers(most: int, *, evidence: frozenset[int] = frozenset(), first: int = 1) -> list[int | None]:
    return [each.number for each in select(WALKS, evidence, first=first, most=most).chosen]


def test_all_that_fits_is_shown_in_order_of_time() -> None:
    assert numbers(10_000) == [None, 1, 2, 3, 4, 5, 6]
    assert not select(WALKS, frozenset(), most=10_000).left_out


def test_the_connection_asked_for_and_the_evidence_come_before_the_others() -> None:
    per_connection = hops_of(select(WALKS, frozenset(), most=1).chosen[0])
    frame = connections(WALKS)[4].requests[0].origin.number
    assert numbers(1) == [1]
    assert numbers(1, first=3) == [3]
    assert numbers(2 * per_connection, evidence=frozenset({frame}), first=2) == [2, 5]


@pytest.mark.parametrize("most", [1, 60, 150, 400, 10_000])
def test_what_is_shown_and_what_is_left_out_is_everything(most: int) -> None:
    selection = select(MIXED, frozenset(), most=most)
    shown = Counter(each.conversation.protocol if each.conversation else "unmatched" for each in selection.chosen)
    everything = Counter(item.protocol for item in MIXED.conversations) + Counter({"unmatched": 1})
    assert shown + Counter(selection.left_out) == everything
    assert len(selection.chosen) == 1 or sum(map(_hops, selection.chosen)) <= most


def _hops(chosen: Chosen) -> int:
    if isinstance(chosen.conversation, Conversation):
        return hops_of(chosen)
    return sum(len(rest.hops or rest.overheard) for rest in chosen.unmatched)


def test_the_page_says_what_it_left_out_and_where_to_find_it() -> None:
    document = parsed(packets_page(build.dr(connections=6), max_hops=60))
    (said,) = texts(document, ".bound")
    shown = len(elements(document, ".conversation"))
    assert "about 60 hops" in said
    assert f"{7 - shown} × TCP." in said
    assert "lvslab walk --from FILE --connection N" in said
    assert not texts(parsed(packets_page(build.dr(), max_hops=100)), ".bound")
