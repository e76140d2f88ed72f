"""The name of an image: what it is made of, so that no file of an export can be left by it."""

from __future__ import annotations

import re

from lvslab.errors import BadInput

_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
"""The characters of github.com/distribution/reference: registry, path, tag and digest; the engine knows the rest."""


def check_image(image: str) -> None:
    """Raise BadInput for what cannot be the name of an image."""
    if not _REFERENCE.fullmatch(image):
        expected = "letters, digits and . _ - : / @, such as registry.example/lvslab:1"
        raise BadInput("no name of an image", where="--image", expected=expected, found=repr(image))
