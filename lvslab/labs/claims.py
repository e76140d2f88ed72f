"""What the labs' texts claim, and what proves each: generated, so that no claim goes without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lvslab.labs.instructions import Claim, claims
from lvslab.labs.loading import INSTRUCTIONS, load_lab
from lvslab.labs.model import GuidedLab
from lvslab.labs.words import Language
from lvslab.topology.rendering import render
from lvslab.topology.source import read_source


@dataclass(frozen=True, slots=True)
class ProvenClaim:
    lab: str
    claim: str
    proofs: tuple[str, ...]


def proven_claims(folder: Path) -> Iterator[ProvenClaim]:
    """Yield a lab's claims in English, with the addresses of the variant that everybody has. Raises BadInput."""
    guided = load_lab(folder)
    for claim in _claims(guided):
        yield ProvenClaim(guided.id, claim.text, claim.proofs)


def _claims(guided: GuidedLab) -> Iterator[Claim]:
    path = guided.folder / INSTRUCTIONS[Language.ENGLISH]
    yield from claims(render(read_source(path), str(path), guided.context).text)


def claims_table(found: list[ProvenClaim]) -> str:
    """Return the claims as a Markdown table."""
    rows = ["| lab | claim | proven by |", "| --- | --- | --- |"]
    for each in found:
        proofs = ", ".join(f"`{proof}`" for proof in each.proofs)
        rows.append(f"| {each.lab} | {each.claim.replace('|', chr(92) + '|')} | {proofs} |")
    return "\n".join(rows) + "\n"
