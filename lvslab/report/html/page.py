"""From sections to one HTML file. Pure: the same sections give the same bytes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lvslab import __version__
from lvslab.report.graph.svg import stylesheet
from lvslab.report.html.outcomes import predictions_view, verdicts_view
from lvslab.report.html.packets import MAX_BYTES, PacketsView, packets_view
from lvslab.report.html.phrases import PagePhrases, page_phrases
from lvslab.report.html.prose import prose_view
from lvslab.report.html.sections import Packets, Predictions, Prose, Section, Tasks, Verdicts
from lvslab.report.html.selection import MAX_HOPS
from lvslab.report.printable import printable
from lvslab.report.signs import SIGNS
from lvslab.walk.phrases import Language

_FILES = resources.files(__package__).joinpath("templates")
_Shown = tuple[str, object]
"""A template, and what it is of."""


def page(
    title: str,
    sections: Iterable[Section],
    *,
    language: Language = Language.ENGLISH,
    facts: Sequence[tuple[str, str]] = (),
    max_hops: int = MAX_HOPS,
) -> bytes:
    """Return one UTF-8 file that needs no network and no script, and whose policy forbids both beyond its own.

    `facts` are pairs of a label and a text below the title. The page shows at most `max_hops` hops, shared evenly
    among its `Packets`, but one conversation of each in any case; it says what it left out. Raises ValueError if
    two `Packets` have the same group.
    """
    say = page_phrases(language)
    sections = tuple(sections)
    packets = _packets(sections, say, max_hops)
    style = Markup(stylesheet() + _text("page.css"))  # noqa: S704 - our own files
    script = Markup(_text("page.js"))  # noqa: S704
    text = (
        _environment(say)
        .get_template("page.html.j2")
        .render(
            title=title,
            facts=facts,
            sections=tuple(_views(sections, packets, say)),
            skip_to=next((f"{view.prefix}packets" for view in packets.values()), ""),
            style=style,
            script=script,
            policy=_policy(style, script),
            version=__version__,
        )
    )
    return text.encode()


def _packets(sections: Sequence[Section], say: PagePhrases, max_hops: int) -> Mapping[str, PacketsView]:
    """Return the packets of each group."""
    found = [section for section in sections if isinstance(section, Packets)]
    groups = [section.group for section in found]
    if len(set(groups)) < len(groups):
        raise ValueError("two groups of packets on one page have the same name")
    most = max_hops // max(len(found), 1)
    return {
        section.group: packets_view(section, f"s{number}-" if len(found) > 1 else "", say, most=most)
        for number, section in enumerate(found, 1)
    }


def _views(sections: Iterable[Section], packets: Mapping[str, PacketsView], say: PagePhrases) -> Iterator[_Shown]:
    ids = {group: view.hop_ids for group, view in packets.items()}
    for section in sections:
        match section:
            case Prose():
                yield "prose.html.j2", prose_view(section)
            case Tasks():
                yield "tasks.html.j2", section
            case Predictions():
                yield "predictions.html.j2", predictions_view(section, ids.get(section.group, {}), say)
            case Verdicts():
                yield "verdicts.html.j2", verdicts_view(section, ids.get(section.group, {}), say)
            case Packets():
                yield "packets.html.j2", packets[section.group]


def _environment(say: PagePhrases) -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    environment.globals.update(say=say, signs=SIGNS, max_bytes=MAX_BYTES)
    return environment


def _shown(value: object) -> object:
    """Make control characters of names and payloads visible; HTML does not allow them."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy(style: str, script: str) -> str:
    """Return a Content Security Policy (CSP level 3) that allows this style and this script alone."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _text(name: str) -> str:
    return _FILES.joinpath(name).read_text(encoding="utf-8")
