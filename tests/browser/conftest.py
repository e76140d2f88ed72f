"""Debian's Chromium, driven by Playwright, and pages of stored captures opened from disk as a reader would."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from lvslab.lab import examine_stored
from lvslab.report.html import verify_page
from lvslab.walk.phrases import Language

CAPTURES = Path(__file__).parents[1] / "golden" / "captures"
CHROMIUM = "/usr/bin/chromium"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass
class Opened:
    """A page in the browser, and what it did besides showing itself."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    """Console messages and uncaught errors."""
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return " ".join(self.page.locator(selector).inner_text().split())


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Language], Path]:
    folder = tmp_path_factory.mktemp("pages")

    def file(name: str, language: Language) -> Path:
        path = folder / f"{name}-{language}.html"
        if not path.exists():
            path.write_bytes(verify_page([examine_stored(CAPTURES / f"{name}.pcapng")], language=language))
        return path

    return file


@pytest.fixture
def open_page(browser: Browser, files: Callable[[str, Language], Path]) -> Iterator[Open]:
    """Return a function that opens the page of a stored capture, or any file; options are those of a new context.

    At the end no page may have complained, nor asked for anything but itself.
    """
    opened: list[Opened] = []

    def open_(name: str | Path, language: Language = Language.ENGLISH, *, at: str = "", **options: Any) -> Opened:
        options.setdefault("viewport", WIDE)
        context = browser.new_context(**options)
        found = Opened(context.new_page())
        opened.append(found)
        found.page.on("console", lambda message: found.complaints.append(message.text))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        path = name if isinstance(name, Path) else files(name, language)
        found.page.goto(path.as_uri() + at)
        return found

    yield open_
    for each in opened:
        assert each.complaints == []
        assert [url for url in each.requests if url.split("#")[0] != each.page.url.split("#")[0]] == []
        each.page.context.close()
