"""Reading a director's configuration in any of the formats."""

from __future__ import annotations

from typing import Final

from lvslab.errors import BadInput
from lvslab.importing.configuration import Configuration, Format
from lvslab.importing.finding import Note
from lvslab.importing.keepalived import read_keepalived
from lvslab.ipvs.text import NEVER_SAVED, read_listing, read_saved
from lvslab.topology.source import check_text

_UNSAID: Final = {
    Format.SAVED: NEVER_SAVED,
    Format.LISTING: (*NEVER_SAVED, "kinds of tunnels (unless listed with --tun-info)"),
}


def read_configuration(text: str, source: str, text_format: Format) -> Configuration:
    """Return what a file says; `source` is what errors call it. Raises BadInput where it cannot be read."""
    if text_format is Format.TOPOLOGY:
        raise BadInput(
            "nothing that can be imported",
            where=source,
            expected="what ipvsadm-save -n or ipvsadm -Ln printed, or a keepalived.conf",
            found="another text, or a topology",
        )
    check_text(text, source)
    if text_format is Format.KEEPALIVED:
        return read_keepalived(text, source)
    services = read_listing(text, source) if text_format is Format.LISTING else read_saved(text, source)
    notes = (Note(f"{text_format} does not say: {'; '.join(_UNSAID[text_format])}"),)
    return Configuration(text_format, source, services, notes=notes)
