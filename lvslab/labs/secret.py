"""A course's secret: any file that only the instructor has."""

from __future__ import annotations

from pathlib import Path

from lvslab.errors import BadInput
from lvslab.inputs import open_input

SHORTEST = 16
SIZE_LIMIT = 1 << 16


def read_secret(path: Path) -> bytes:
    """Return the secret in a file, without a line's end. Raises BadInput if it is too short to be one."""
    with open_input(path, "the course's secret") as file:
        secret = file.read(SIZE_LIMIT).strip()
    if len(secret) < SHORTEST:
        raise BadInput(
            "the secret is too short",
            where=str(path),
            expected=f"at least {SHORTEST} characters",
            found=str(len(secret)),
            next_step=f"head -c 24 /dev/urandom | base64 > {path}",
        )
    return secret
