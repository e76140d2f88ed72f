"""What `lvslab walk` and `lvslab verify` put on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lvslab.lab import Examination
from lvslab.report.graph.summary import title_of
from lvslab.report.html.page import page
from lvslab.report.html.phrases import PagePhrases, page_phrases
from lvslab.report.html.sections import Packets, Prediction, Predictions, Section, Verdicts
from lvslab.topology.model import Topology, VirtualService
from lvslab.verify.cycle import REFUSED
from lvslab.verify.evidence import Evidence
from lvslab.verify.expectations.scheduled import Choices, choices
from lvslab.verify.others import own_connections
from lvslab.verify.result import Verdict, titles
from lvslab.verify.served import Served, served_connections
from lvslab.walk.model import Walks
from lvslab.walk.phrases import Language
from lvslab.walk.terms import with_terms


def walk_page(
    walks: Walks, evidence: Evidence | None, *, language: Language, connection: int = 1, kernel: str = ""
) -> bytes:
    """Return the page of one capture; without evidence (no topology is known) the packets alone."""
    say = page_phrases(language)
    if evidence is None:
        return page(say.packets, [Packets(walks, connection=connection)], language=language)
    topology = evidence.topology
    facts = [(say.kernel, kernel), (say.frames, str(len(evidence.capture.frames)))]
    sections: tuple[Section, ...] = (
        Packets(walks, topology, connection=connection),
        *scheduler_predictions(evidence, language),
    )
    return page(_title(topology, language), sections, language=language, facts=[each for each in facts if each[1]])


def verify_page(examinations: Sequence[Examination], *, language: Language) -> bytes:
    """Return the page of any number of examinations."""
    say = page_phrases(language)
    titles_of = dict.fromkeys(_title(each.evidence.topology, language) for each in examinations)
    title = next(iter(titles_of)) if len(titles_of) == 1 else say.verified.format(count=len(examinations))
    return page(title, verify_sections(examinations, language=language), language=language)


def _title(topology: Topology, language: Language) -> str:
    return page_phrases(language).topology_title.format(title=title_of(topology, language), name=topology.name)


def verify_sections(examinations: Sequence[Examination], *, language: Language) -> tuple[Section, ...]:
    """Return the sections for any number of examinations: the verdicts of all, then each one's packets."""
    names = titles([examination.result for examination in examinations])
    groups = [f"{number} {name}" for number, name in enumerate(names)]
    verdicts = [Verdicts(each.result, group) for each, group in zip(examinations, groups, strict=True)]
    parts = zip(examinations, groups, names, strict=True)
    return (*verdicts, *(section for each, group, name in parts for section in _packets(each, group, name, language)))


def _packets(examination: Examination, group: str, name: str, language: Language) -> Iterator[Section]:
    say = page_phrases(language)
    evidence, result = examination.evidence, examination.result
    failed = (item for item in result.expectations if item.verdict in (Verdict.FAIL, Verdict.ERROR))
    frames = frozenset(frame for item in failed for frame in item.frames)
    yield Packets(
        with_terms(evidence.walks, evidence.topology),
        evidence.topology,
        group,
        say.of_topology.format(what=say.packets, topology=name),
        frames,
    )
    yield from scheduler_predictions(evidence, language, group=group, name=name)


def scheduler_predictions(
    evidence: Evidence, language: Language, *, group: str = "", name: str = ""
) -> tuple[Predictions, ...]:
    """Return which server each connection should have got beside the one it got; nothing without a service."""
    say = page_phrases(language)
    found: list[Prediction] = []
    reasons: list[str] = []
    for service in evidence.topology.services:
        chosen = choices(evidence, service, own_connections(evidence, served_connections(evidence, service)))
        if isinstance(chosen, str):
            reasons.append(chosen)
        else:
            found += _of_service(service, chosen, say)
    if not evidence.topology.services:
        return ()
    model = say.scheduler_model
    title = say.of_topology.format(what=model, topology=name) if name else model
    return (Predictions(tuple(dict.fromkeys(found)), title, tuple(dict.fromkeys(reasons)), group),)


def _of_service(service: VirtualService, chosen: Choices, say: PagePhrases) -> Iterable[Prediction]:
    for served, wanted, got in zip(chosen.scheduled, chosen.wanted, chosen.got, strict=True):
        yield Prediction(
            _question(service, served, say),
            say.nobody if wanted == REFUSED else wanted,
            say.nobody if got == REFUSED else got,
            wanted == got,
            served.opening.origin.number,
        )


def _question(service: VirtualService, served: Served, say: PagePhrases) -> str:
    return say.scheduler_question.format(scheduler=service.scheduler, connection=served.conversation.initiator)
