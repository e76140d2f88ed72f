"""What is wrong with a lab, without building it: its files, its two languages side by side, hints, proofs, links.

A lab's own checks.py is Python that registers checks, and is executed to know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lvslab.errors import BadInput, BadInputs, LvslabError
from lvslab.labs.instructions import claims
from lvslab.labs.loading import INSTRUCTIONS, load_lab
from lvslab.labs.model import GuidedLab, StepKind
from lvslab.labs.solution import SUFFIX, mistakes_of, setup_of, solution_of
from lvslab.labs.words import Language
from lvslab.topology.shipped import shipped
from lvslab.topology.source import read_source
from lvslab.topology.wording import did_you_mean

HINTS = 3
"""Where to look, what to look for, the command."""
SEEDS = ("", "lint-1", "lint-2")
"""A fault may show in some variants only."""
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_COMMENT_IN_CODE = re.compile(r"\s+# .*$", re.MULTILINE)


def lint_lab(folder: Path) -> tuple[BadInput, ...]:
    """Return every fault that was found; none when the lab can be tried."""
    try:
        variants = [load_lab(folder, seed) for seed in SEEDS]
    except BadInputs as several:
        return several.faults
    except BadInput as one:
        return (one,)
    # What is wrong in every variant is one fault.
    return tuple({fault.as_line(): fault for fault in _faults(folder, variants)}.values())


def _faults(folder: Path, variants: Sequence[GuidedLab]) -> Iterator[BadInput]:
    guided = variants[0]
    yield from _hint_faults(guided)
    yield from _text_faults(guided)
    yield from _language_faults(folder)
    yield from _proof_faults(guided)
    for variant in variants:
        yield from _transcript_faults(variant)
    known = {step.id for step in guided.steps}
    for path in sorted((folder / "solution").glob("*")):
        if path.name.removesuffix(SUFFIX) not in known:
            yield BadInput("a solution of no step", where=str(path), next_step=did_you_mean(path.stem, known))


def _hint_faults(guided: GuidedLab) -> Iterator[BadInput]:
    for step in guided.steps:
        wanted = 0 if step.kind is StepKind.PREDICTION else HINTS
        if len(step.hints) != wanted:
            yield BadInput(
                f"step {step.id}: wrong number of hints",
                where=str(guided.folder / "lab.yaml"),
                expected=f"{wanted}: where to look, what to look for, the command" if wanted else "none: a prediction",
                found=str(len(step.hints)),
            )


def _text_faults(guided: GuidedLab) -> Iterator[BadInput]:
    """Each step has its part in each text, in the order of lab.yaml."""
    wanted = [step.id for step in guided.steps]
    for language, instructions in guided.instructions.items():
        found = list(instructions.steps)
        if found != wanted:
            yield BadInput(
                "the text's steps are not those of lab.yaml, in its order",
                where=str(guided.folder / INSTRUCTIONS[language]),
                expected=", ".join(wanted),
                found=", ".join(found) or "none",
                next_step="begin each step's part with a line <!-- step: ID -->",
            )
        if not instructions.closing.strip():
            yield BadInput(
                "the text does not close",
                where=str(guided.folder / INSTRUCTIONS[language]),
                expected="some lines at the end, to be shown when the lab is done",
                next_step="begin them with a line <!-- closing -->",
            )


def _language_faults(folder: Path) -> Iterator[BadInput]:
    texts = {language: read_source(folder / name) for language, name in INSTRUCTIONS.items()}
    english, chinese = texts[Language.ENGLISH], texts[Language.CHINESE]
    where = str(folder / INSTRUCTIONS[Language.CHINESE])
    if _HEADING.findall(english) != _HEADING.findall(chinese):
        yield BadInput("the two languages have not the same headings", where=where, next_step="compare their levels")
    ours, theirs = _commands(english), _commands(chinese)
    different = next((pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]), None)
    if different is not None:
        yield BadInput(
            "a block of commands differs between the languages",
            where=where,
            expected=repr(different[0]),
            found=repr(different[1]),
            next_step="commands and output are the same in every language; comments in them may differ",
        )
    elif len(ours) != len(theirs):
        yield BadInput(
            "blocks of commands are missing in one language",
            where=where,
            expected=str(len(ours)),
            found=str(len(theirs)),
        )
    proofs = [[claim.proofs for claim in claims(text)] for text in (english, chinese)]
    if proofs[0] != proofs[1]:
        yield BadInput("the two languages do not have the same proofs, in the same order", where=where)
    for language, text in texts.items():
        for match in _LINK.finditer(text):
            target = match["target"]
            if "://" not in target and not target.startswith("#") and not (folder / target).exists():
                yield BadInput("a link to nothing", where=str(folder / INSTRUCTIONS[language]), found=target)


def _commands(text: str) -> list[str]:
    """Return the fenced blocks, without comments."""
    return [_COMMENT_IN_CODE.sub("", block).rstrip() for block in _FENCE.findall(text)]


def _proof_faults(guided: GuidedLab) -> Iterator[BadInput]:
    path = guided.folder / INSTRUCTIONS[Language.ENGLISH]
    for claim in claims(read_source(path)):
        for proof in claim.proofs:
            if not is_proof(guided, proof):
                yield BadInput(
                    "a proof that does not exist",
                    where=f"{path}:{claim.line}",
                    expected="a check, a step, wrong/NAME, verify TOPOLOGY, or tests/FILE::TEST",
                    found=repr(proof),
                )


def is_proof(guided: GuidedLab, proof: str) -> bool:
    """Tell whether a proof exists: a check or step of the lab, a mistake, a topology's verdict, or a test."""
    if proof.startswith("wrong/"):
        return (guided.folder / f"{proof}{SUFFIX}").is_file()
    if proof.startswith("verify "):
        return proof.split()[1] in shipped()
    if proof.startswith("tests/"):
        file, _, test = proof.partition("::")
        path = guided.folder.parent.parent / file
        # An installed lvslab has no tests beside it: there is nothing to look at then.
        return not path.parent.parent.is_dir() or (path.is_file() and f"def {test.split('[')[0]}(" in path.read_text())
    return proof in {check.id for check in guided.checks} | {step.id for step in guided.steps}


def _transcript_faults(guided: GuidedLab) -> Iterator[BadInput]:
    try:
        setup_of(guided)
        for step in guided.steps:
            if not solution_of(guided, step.id).lines and not (step.kind is StepKind.TASK and not step.checks):
                yield BadInput(
                    f"step {step.id} has no solution",
                    where=str(guided.folder),
                    expected=f"solution/{step.id}{SUFFIX}",
                )
        tuple(mistakes_of(guided))
    except LvslabError as error:
        if isinstance(error, BadInput):
            yield error
