"""What becomes of a long mixed capture is what it was when the stored text was made."""

from __future__ import annotations

from pathlib import Path

from lvslab.walk import find_walks
from tests.unit.walk.mixed import as_text, mixed_capture

STORED = Path(__file__).parents[2] / "golden" / "walks" / "mixed-capture.txt"


def test_a_mixed_capture_gives_the_stored_walks() -> None:
    capture = mixed_capture()
    found = find_walks(capture)
    assert as_text(found) == STORED.read_text()
    seen = [hop.number for walk in found.walks for hop in (*walk.hops, *walk.overheard)]
    seen += [hop.number for rest in found.unmatched for hop in (*rest.hops, *rest.overheard)]
    assert sorted(seen) == list(range(1, len(capture.frames) + 1))
