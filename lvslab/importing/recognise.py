"""Which format a text is in, told by its content."""

from __future__ import annotations

import re
from typing import Final

from lvslab.importing.configuration import Format
from lvslab.ipvs.text.listing_reader import is_listing
from lvslab.ipvs.text.options import COMMANDS

_SAVED: Final = re.compile(rf"^[ \t]*(?:ipvsadm[ \t]+)?(?:{'|'.join(map(re.escape, COMMANDS))})[ \t]+-", re.MULTILINE)
_KEEPALIVED: Final = re.compile(
    r"^[ \t]*(?:virtual_server|virtual_server_group|real_server|vrrp_instance|global_defs)(?:[ \t{]|$)", re.MULTILINE
)


def recognise(text: str) -> Format:
    """Return the format; what is none of the others is taken for a topology."""
    if is_listing(text):
        return Format.LISTING
    if _SAVED.search(text):
        return Format.SAVED
    if _KEEPALIVED.search(text):
        return Format.KEEPALIVED
    return Format.TOPOLOGY
