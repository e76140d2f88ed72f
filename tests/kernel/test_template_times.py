"""How long a client stays with its server: the life of a persistence template, in virtual time.

Sources: net/netfilter/ipvs/ip_vs_core.c (ip_vs_sched_persist: a new connection begins the template's time anew),
ip_vs_conn.c (ip_vs_conn_expire: one that still controls connections is kept for another minute, and from then on a
minute is its time).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lvslab.ipvs.model import Connection
from lvslab.ipvs.templates import is_template
from lvslab.kernels.choose import UP_TIMEOUT_S
from lvslab.kernels.images import UmlImage
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab, open_kernel
from lvslab.verify.result import Verdict
from tests.kernel.support import lab_in, own_images

pytestmark = pytest.mark.kernel

MINUTE_S = 60
TIMEOUT_S = 10 * MINUTE_S
FINISHED_S = 2 * MINUTE_S
"""How long an entry stays after its FIN (ip_vs_proto_tcp.c: tcp_timeouts)."""
MARGIN_S = 2
"""What the commands between two looks may let pass, and the whole seconds that the table shows."""
LATE_PART = 8
"""The kernel may run a timer late, by this part of its time (kernel/time/timer.c: granularity of its levels)."""


@pytest.fixture(scope="module", params=own_images(), ids=lambda image: image.release)
def kernel(request: pytest.FixtureRequest) -> Iterator[RunningKernel]:
    image = request.param
    assert isinstance(image, UmlImage)
    with open_kernel(f"uml:{image.release}", name="templates", virtual_time=True) as running:
        running.wait_until_up(UP_TIMEOUT_S)
        yield running


@pytest.fixture
def lab(kernel: RunningKernel) -> Iterator[Lab]:
    with lab_in(kernel, "persistence", timeout=TIMEOUT_S, real_servers=3) as running:
        yield running


def template(lab: Lab) -> Connection | None:
    return next((entry for entry in lab.connections("director") if is_template(entry)), None)


def others(lab: Lab) -> list[Connection]:
    return [entry for entry in lab.connections("director") if not is_template(entry)]


def ask(lab: Lab) -> str:
    (outcome,) = lab.node("client1").get("198.18.0.10")
    assert outcome.ok, outcome
    return outcome.server


def left_s(lab: Lab) -> int:
    found = template(lab)
    assert found is not None
    return found.expires_s


def test_it_outlives_its_connections_and_then_the_client_is_scheduled_anew(lab: Lab) -> None:
    first = ask(lab)
    assert TIMEOUT_S - MARGIN_S <= left_s(lab) <= TIMEOUT_S
    lab.sleep(FINISHED_S + FINISHED_S / LATE_PART + MARGIN_S)
    assert others(lab) == []
    assert template(lab) is not None
    lab.sleep(TIMEOUT_S - FINISHED_S - FINISHED_S / LATE_PART - 3 * MARGIN_S)
    assert template(lab) is not None
    lab.sleep(TIMEOUT_S / LATE_PART + 3 * MARGIN_S)
    assert lab.connections("director") == ()
    assert ask(lab) != first


def test_each_new_connection_begins_its_time_anew(lab: Lab) -> None:
    first = ask(lab)
    for _ in range(3):
        lab.sleep(TIMEOUT_S - MINUTE_S)
        assert left_s(lab) <= MINUTE_S
        assert ask(lab) == first
        assert TIMEOUT_S - MARGIN_S <= left_s(lab) <= TIMEOUT_S


def test_a_connection_that_lives_keeps_it_a_minute_at_a_time(lab: Lab) -> None:
    hold = "exec 3<>/dev/tcp/198.18.0.10/80; while sleep 300; do printf x >&3; done"
    lab.node("client1").run("bash", "-c", f"setsid bash -c '{hold}' >/dev/null 2>&1 </dev/null &")
    lab.sleep(1)
    (held,) = others(lab)
    lab.sleep(TIMEOUT_S + TIMEOUT_S / LATE_PART)
    for _ in range(4):
        assert left_s(lab) <= MINUTE_S + MARGIN_S
        assert [entry.state for entry in others(lab)] == ["ESTABLISHED"]
        lab.sleep(MINUTE_S)
    # From now on its time is a minute, not the service's.
    ask(lab)
    assert left_s(lab) <= MINUTE_S
    found = template(lab)
    assert found is not None
    assert found.destination == held.destination


def test_verify_holds_a_client_to_its_server_only_while_its_template_lives(lab: Lab) -> None:
    """Judged anew after every template has expired: rr goes on, so each client's server is another one."""
    before = lab.examine()
    lab.sleep(2 * TIMEOUT_S)
    assert lab.connections("director") == ()
    after = lab.examine()
    verdicts = [{item.name: item.verdict for item in one.result.expectations} for one in (before, after)]
    assert [found["persistence"] for found in verdicts] == [Verdict.PASS, Verdict.PASS]
    # rr's place in its cycle is no longer known, nor are the templates of before.
    assert [found["scheduler"] for found in verdicts] == [Verdict.PASS, Verdict.SKIP]
    assert not {item.verdict for one in (before, after) for item in one.result.expectations} & {Verdict.FAIL}
    servers = [{item.client: item.server for item in one.evidence.outcomes or ()} for one in (before, after)]
    assert servers[0] != servers[1]
