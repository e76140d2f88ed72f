"""The expectations of `lvslab verify`, judged on the lab as it is now."""

from __future__ import annotations

from dataclasses import replace

from lvslab.labs.checks.nodes import first_failure
from lvslab.labs.finding import Finding, failed, of_result
from lvslab.labs.registry import check
from lvslab.labs.view import View
from lvslab.labs.words import NOTHING, same, words
from lvslab.topology.document import Entry, Texts


class Verify(Entry):
    """These expectations hold: arp-owner, dr-request, direct-reply, nat-request, scheduler, …

    With `vip` only the services of that VIP are called and judged. With `blind` a failure says what was seen and
    where, but neither the cause nor what to do: finding them is the student's part.
    """

    expect: Texts
    vip: str | None = None
    blind: bool = False


@check("verify", Verify)
def verify(view: View, wanted: Verify) -> Finding:
    finding = first_failure(_judged(view, name, wanted.vip) for name in wanted.expect)
    return replace(finding, cause=NOTHING, next=NOTHING) if wanted.blind else finding


def _judged(view: View, name: str, vip: str | None) -> Finding:
    results = view.results(name, vip)
    if not results:
        known = sorted({result.name.split()[0] for result in view.examination_of(vip).result.expectations})
        raise LookupError(f"{name} is none of the lab's expectations: {', '.join(known)}")
    finding = first_failure(of_result(result) for result in results)
    if finding.passed or finding.seen:
        return finding
    return failed(same(name), words("nothing of the kind was seen", "没有看到"), next_step=finding.next)
