from __future__ import annotations

import pytest

from lvslab.report.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("tab\tand\nnewline stay", "tab\tand\nnewline stay"),
        ("真实服务器 → ✓", "真实服务器 → ✓"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\r\x7f\x9b", "\\x00\\x0d\\x7f\\x9b"),
        ("\udc80", "\\udc80"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
    ],
)
def test_what_a_terminal_might_obey_is_made_visible(text: str, shown: str) -> None:
    assert printable(text) == shown
