"""Pages of stored and of made-up captures, and what a strict HTML parser reads in them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from justhtml import Element, JustHTML

from lvslab.capture.frame import Capture
from lvslab.lab import Examination, examine_stored
from lvslab.report.html import Packets, page, verify_sections
from lvslab.topology.model import Topology
from lvslab.walk import find_walks
from lvslab.walk.model import Walks
from lvslab.walk.phrases import Language
from lvslab.walk.terms import with_terms

CAPTURES = Path(__file__).parents[3] / "golden" / "captures"
STORED = ("dr", "nat", "tun", "arp-problem")


@cache
def examined(name: str) -> Examination:
    return examine_stored(CAPTURES / f"{name}.pcapng")


@cache
def stored_page(name: str, language: Language = Language.ENGLISH, *, max_hops: int = 60) -> str:
    """Return the page of `lvslab verify`, short by default: a strict parser takes its time."""
    return page(
        name, verify_sections([examined(name)], language=language), language=language, max_hops=max_hops
    ).decode()


def packets_page(
    capture: Capture, topology: Topology | None = None, *, language: Language = Language.ENGLISH, max_hops: int = 60
) -> str:
    section = Packets(walks_of(capture, topology), topology)
    return page("made up", [section], language=language, max_hops=max_hops).decode()


def walks_of(capture: Capture, topology: Topology | None) -> Walks:
    walks = find_walks(capture)
    return walks if topology is None else with_terms(walks, topology)


@cache
def parsed(text: str) -> JustHTML:
    """Read a page; raises where it is not as the HTML standard has it."""
    return JustHTML(text, sanitize=False, strict=True)


def elements(document: JustHTML, selector: str) -> list[Element]:
    return [node for node in document.query(selector) if isinstance(node, Element)]


def texts(document: JustHTML, selector: str) -> list[str]:
    """Return the text of each element, blanks as a reader sees them."""
    return [" ".join(node.to_text().split()) for node in elements(document, selector)]


def attribute(node: Element, name: str) -> str:
    return node.attrs.get(name) or ""
