"""A name's question and address records as bytes on the wire, encoded by dnspython."""

from __future__ import annotations

import struct

from lvslab.topology.model import NameService

HEADER_BYTES = 12
POINTER_TO_QUESTION = struct.pack("!H", 0xC000 | HEADER_BYTES)
"""RFC 1035, 4.1.4: the name is where the question has it, right after the header."""
_TYPE_AND_CLASS = struct.Struct("!HH")


def question_and_records(service: NameService) -> list[bytes]:
    """Return the question, then one record per server in the file's order."""
    import dns.name
    import dns.rdataclass
    import dns.rdatatype

    question = dns.name.from_text(service.name).to_wire()
    if question is None:
        raise ValueError(f"{service.name} cannot be encoded")
    kind = _TYPE_AND_CLASS.pack(dns.rdatatype.A, dns.rdataclass.IN)
    head = POINTER_TO_QUESTION + kind + struct.pack("!IH", service.ttl_s, 4)
    return [question + kind, *(head + address.packed for _, address in service.records)]
