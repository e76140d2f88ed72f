from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lvslab.report.html.hexdump import hexdump


@given(st.binary(max_size=100))
def test_the_hexadecimal_columns_are_the_bytes(data: bytes) -> None:
    lines = hexdump(data).splitlines()
    assert b"".join(bytes.fromhex(line[6:53]) for line in lines) == data
    assert [int(line[:4], 16) for line in lines] == list(range(0, len(data), 16))


def test_what_is_ascii_stands_beside_it() -> None:
    assert hexdump(b"GET /\r\n\xff") == "0000  47 45 54 20 2f 0d 0a ff                          GET /..."
