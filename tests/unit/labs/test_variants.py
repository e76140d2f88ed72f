"""Variants: the same for a seed everywhere and for ever, within their ranges, and different between students."""

from __future__ import annotations

import hmac
from typing import Any

import pytest

from lvslab.labs.document import VariantEntry
from lvslab.labs.variants import draw, student_token, variant_faults


def entry(**fields: Any) -> VariantEntry:
    return VariantEntry.model_validate({key.rstrip("_"): value for key, value in fields.items()})


RANGE = entry(from_=11, to=90)
CHOICE = entry(of=[80, 8080, 8000])
ORDER = entry(shuffle=["rs1", "rs2", "rs3"])


def test_a_token_is_the_hmac_of_the_student() -> None:
    assert (
        student_token(b"secret of the course", "alice")
        == hmac.digest(b"secret of the course", b"alice", "sha256").hex()[:16]
    )


def test_draws_of_a_seed_do_not_change_between_versions() -> None:
    """A submission of last year's must still have its variant."""
    assert draw({"host": RANGE, "port": CHOICE, "order": ORDER}, "5f", "03-dr") == {
        "host": 27,
        "port": 8080,
        "order": "rs1 rs2 rs3",
    }


def test_a_parameter_does_not_depend_on_the_others() -> None:
    alone = draw({"host": RANGE}, "a", "x")["host"]
    assert draw({"port": CHOICE, "host": RANGE}, "a", "x")["host"] == alone


def test_everything_in_a_range_is_drawn_and_nothing_beside_it() -> None:
    drawn = {draw({"host": entry(from_=3, to=5)}, str(seed), "x")["host"] for seed in range(60)}
    assert drawn == {3, 4, 5}


def test_every_order_is_drawn() -> None:
    drawn = {draw({"order": ORDER}, str(seed), "x")["order"] for seed in range(100)}
    assert len(drawn) == 6
    assert all(sorted(str(order).split()) == ["rs1", "rs2", "rs3"] for order in drawn)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({}, "not a variant"),
        ({"of": [1], "shuffle": [1]}, "not a variant"),
        ({"of": []}, "an empty list"),
        ({"from_": 5, "to": 4}, "an empty range"),
        ({"from_": 5}, "an empty range"),
    ],
)
def test_what_cannot_be_drawn_from_is_a_fault(fields: dict[str, Any], what: str) -> None:
    assert [fault.what for fault in variant_faults({"x": entry(**fields)})] == [what]
