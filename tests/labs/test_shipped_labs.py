"""Each shipped lab, proven on a real kernel for several variants, as `lvslab lab test --seeds 3` does."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.labs.shipped import shipped_labs
from lvslab.labs.trial import try_labs
from lvslab.verify.result import Verdict

pytestmark = pytest.mark.kernel
SEEDS = 3


@pytest.mark.parametrize("lab", shipped_labs(), ids=lambda path: path.name)
def test_a_lab_teaches_what_it_says(lab: Path, kernel_kind: str) -> None:
    trials = list(
        try_labs([lab], seeds=SEEDS, kernel=kernel_kind, memory_mib=DEFAULT_MEMORY_MIB, phase=lambda _: nullcontext())
    )
    assert [trial for trial in trials if trial.verdict is not Verdict.PASS] == []
    assert len({trial.seed for trial in trials}) == SEEDS
