"""JSON that lvslab wrote and reads again: in between it may have been damaged, or changed by somebody."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Of what is read: nothing unknown is passed over, and nothing is converted."""
Stored = TypeVar("Stored")


def read_stored(shape: TypeAdapter[Stored], data: bytes) -> Stored:
    """Return what JSON text says, every value of the kind it should be.

    Raises ValueError, naming the first key that is wrong. Deep nesting is a ValueError, too.
    """
    try:
        return shape.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        keys = ".".join(map(str, first["loc"]))
        raise ValueError(f"{keys}: {first['msg']}" if keys else first["msg"]) from error
