"""The shipped labs 2, 4, 6, …, proven on a real kernel for several variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.proofs import SECOND_HALF, teaches_what_it_says

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("lab", SECOND_HALF, ids=lambda path: path.name)
def test_a_lab_teaches_what_it_says(lab: Path, kernel_kind: str) -> None:
    teaches_what_it_says(lab, kernel_kind)
