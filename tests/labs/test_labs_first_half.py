"""The shipped labs 1, 3, 5, …, proven on a real kernel for several variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.proofs import FIRST_HALF, teaches_what_it_says

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("lab", FIRST_HALF, ids=lambda path: path.name)
def test_a_lab_teaches_what_it_says(lab: Path, kernel_kind: str) -> None:
    teaches_what_it_says(lab, kernel_kind)
