"""Many submissions graded by several machines at once: each takes its share, and none needs to know of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from lvslab.errors import BadInput

Item = TypeVar("Item")
_TEXT = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Share:
    """Every item whose place in the list leaves `index` when divided by `of`."""

    index: int
    of: int

    def pick(self, items: Sequence[Item]) -> list[Item]:
        return list(items[self.index :: self.of])


def parse_share(text: str) -> Share:
    """Return what ``2/20`` means: the third of twenty shares. Raises BadInput."""
    found = _TEXT.fullmatch(text)
    if found is None or int(found[1]) >= int(found[2]):
        raise BadInput("no share", where="--share", expected="INDEX/COUNT, 0/20 to 19/20 for twenty", found=text)
    return Share(int(found[1]), int(found[2]))
