"""The texts of ipvsadm(8): what `ipvsadm-save -n` prints and `ipvsadm -R` reads, and what `ipvsadm -Ln` prints.

Options, defaults and output as in ipvsadm 1.31 (ipvsadm.c), the release that Debian 12 has.
"""

from lvslab.ipvs.text.listing_reader import read_listing
from lvslab.ipvs.text.losses import NEVER_SAVED, lost_by_saving
from lvslab.ipvs.text.save_reader import read_saved
from lvslab.ipvs.text.save_writer import saved_text
from lvslab.ipvs.text.written import WrittenDestination, WrittenService

__all__ = [
    "NEVER_SAVED",
    "WrittenDestination",
    "WrittenService",
    "lost_by_saving",
    "read_listing",
    "read_saved",
    "saved_text",
]
