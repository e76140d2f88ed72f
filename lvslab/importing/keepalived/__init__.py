"""Reading keepalived.conf(5): the virtual servers, and what of the rest matters for them. Checked with 2.2.7."""

from lvslab.importing.keepalived.reading import read_keepalived

__all__ = ["read_keepalived"]
