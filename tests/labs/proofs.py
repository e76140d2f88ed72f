"""What is proven of a shipped lab, as `lvslab lab test --seeds 3` does, and which file of tests proves which labs.

Two files, since one process runs a file from beginning to end, and these are the longest tests of all.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.labs.shipped import shipped_labs
from lvslab.labs.trial import try_labs
from lvslab.verify.result import Verdict

SEEDS = 3
FIRST_HALF, SECOND_HALF = shipped_labs()[::2], shipped_labs()[1::2]


def teaches_what_it_says(lab: Path, kernel_kind: str) -> None:
    """Assert everything that must be so of each of its variants."""
    trials = list(
        try_labs([lab], seeds=SEEDS, kernel=kernel_kind, memory_mib=DEFAULT_MEMORY_MIB, phase=lambda _: nullcontext())
    )
    failed = [trial for trial in trials if trial.verdict is not Verdict.PASS]
    assert failed == [], "\n".join(f"{each.lab} [{each.seed or '-'}] {each.name}: {each.said}" for each in failed)
    assert len({trial.seed for trial in trials}) == SEEDS
