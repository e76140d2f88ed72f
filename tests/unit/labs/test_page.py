"""A student's report as a page: what passed, what did not, what was never tried; predictions beside what was seen."""

from __future__ import annotations

import re
from pathlib import Path

from lvslab.labs.loading import load_lab
from lvslab.labs.page import report_page
from lvslab.labs.progress import Progress
from lvslab.labs.session import Session
from lvslab.labs.words import Language


def session(folder: Path, progress: Progress) -> Session:
    return Session(load_lab(folder), progress)


def text_of(page: bytes) -> str:
    body = page.decode().partition("<body")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_each_step_is_told_apart(folder: Path) -> None:
    progress = Progress("13-mine", str(folder), student="<alice>", position="service")
    progress = progress.with_step("calls-of-rs1", answer="5", passed_at=1.0, observed="4", observed_at="rs1")
    progress = progress.with_step("service", passed_at=2.0, attempts=2, hints=1)
    page = report_page(session(folder, progress), None, Language.ENGLISH)
    text = text_of(page)
    assert b"<alice>" not in page
    assert "&lt;alice&gt;" in text
    assert "2/3" in text
    assert "✓ passed The virtual service" in text
    assert "checks that did not pass: 2" in text
    assert "✗ failed" not in text
    assert "not done yet" in text
    assert re.search(r"How many of 8 calls does rs1 answer\? 5 4 \(rs1\)", text)


def test_what_was_tried_and_not_passed_has_failed(folder: Path) -> None:
    progress = Progress("13-mine", str(folder), position="service").with_step("service", attempts=1)
    assert "✗ failed The virtual service" in text_of(report_page(session(folder, progress), None, Language.ENGLISH))


def test_the_page_is_in_the_student_s_language(folder: Path) -> None:
    page = report_page(session(folder, Progress("13-mine", str(folder), position="service")), None, Language.CHINESE)
    assert b'lang="zh' in page
    assert "虚拟服务" in text_of(page)
    assert "尚未完成" in text_of(page)
