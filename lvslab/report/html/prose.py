"""Prose from Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it import MarkdownIt
from markupsafe import Markup

from lvslab.report.html.sections import Prose
from lvslab.report.printable import printable

_BELOW_THE_PAGES_OWN = 2
"""How far its headings move down: the page has a title, the section may have one."""


@dataclass(frozen=True, slots=True)
class ProseView:
    title: str
    body: Markup


def prose_view(section: Prose) -> ProseView:
    """Return the text as HTML that loads nothing; HTML in it is shown as the text it is."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(printable(section.markdown))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + _BELOW_THE_PAGES_OWN, 6)}"
    return ProseView(section.title, Markup(markdown.renderer.render(tokens, markdown.options, {})))  # noqa: S704
