"""Entries of the director's connection table: which is gone first, what open connections live through."""

from typing import Literal

from lvslab.labs.entries import entry_of_call
from lvslab.labs.registry import Observed, observation
from lvslab.labs.words import same, words
from lvslab.topology.document import Entry


class FirstGone(Entry):
    """Whose entry has less time left, of two calls that have just ended: `nat` or `dr`; `both` if they are equal."""

    nat: str
    dr: str


@observation("first-gone", FirstGone)
def first_gone(view, wanted):
    nat, dr = (entry_of_call(view, None, vip, _director(view)) for vip in (wanted.nat, wanted.dr))
    if nat is None or dr is None:
        return None
    # The two calls are made one after the other.
    near = abs(nat.expires_s - dr.expires_s) <= 2
    value = "both" if near else "nat" if nat.expires_s < dr.expires_s else "dr"
    return Observed(value, words("{nat}; {dr}", "{nat}；{dr}", nat=_told(nat), dr=_told(dr)), _director(view))


class OpenConnection(Entry):
    """What an open connection gets for its request, sent after its server was quiesced or deleted.

    `answer`, `silence` or `reset`. The server has weight 1 while the connection opens; then all is as it was before.
    """

    vip: str
    server: str
    after: Literal["weight-0", "delete"]


@observation("open-connection", OpenConnection)
def open_connection(view, wanted):
    director, service = _director(view), f"{wanted.vip}:{view.service().port}"
    before = _weight(view, wanted.vip)
    if before is None:
        return None

    def ipvsadm(verb, *weight):
        view.run(director, "ipvsadm", verb, "-t", service, "-r", wanted.server, *weight)

    ipvsadm("-e", "-g", "-w", "1")
    view.run("client", "bash", "-c", _LATE_REQUEST.format(vip=wanted.vip, port=view.service().port))
    if wanted.after == "delete":
        ipvsadm("-d")
    else:
        ipvsadm("-e", "-g", "-w", "0")
    got = view.run("client", "bash", "-c", _RESULT).output
    ipvsadm("-a" if wanted.after == "delete" else "-e", "-g", "-w", str(before))
    value = "answer" if "200 OK" in got else "reset" if "reset" in got else "silence"
    return Observed(value, same(" ".join(got.split())[:80] or "-"), "client")


_LATE_REQUEST = """
rm -f /tmp/late-opened /tmp/late-ended; : > /tmp/late-answer
( exec 3<>/dev/tcp/{vip}/{port} || exit; touch /tmp/late-opened; sleep 2
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; timeout 2 head -n 1 <&3; touch /tmp/late-ended ) >/tmp/late-answer 2>&1 &
for i in {{1..30}}; do [ -e /tmp/late-opened ] && break; sleep 0.1; done
"""
_RESULT = "for i in {1..80}; do [ -e /tmp/late-ended ] && break; sleep 0.1; done; cat /tmp/late-answer"


def _told(entry):
    return words("{state}, {left} s left", "{state}，还剩 {left} 秒", state=entry.state, left=entry.expires_s)


def _weight(view, vip):
    """Return the weight of the only server of the TCP service at the VIP; None if there is none."""
    for entry in view.table(_director(view)):
        if str(entry.service.key) == f"TCP {vip}:{view.service().port}" and entry.destinations:
            return entry.destinations[0].destination.weight
    return None


def _director(view):
    return view.service().director
