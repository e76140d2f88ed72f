"""Which netfilter hooks a packet passes: a rule that drops it in one of them shows that it came by there.

net/netfilter/ipvs/ip_vs_core.c (ip_vs_ops) and ip_vs_xmit.c (ip_vs_nat_send_or_cont, ip_vs_send_or_cont).
"""

from __future__ import annotations

import pytest

from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

HOOKS = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")
REQUEST = {"PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"}
PASSED = {"nat": REQUEST | {"FORWARD"}, "dr": REQUEST, "tun": REQUEST}
"""FORWARD sees only replies, and only by NAT do they come to the director."""
REQUESTS = {"nat": "nat-request", "dr": "dr-request", "tun": "tun-request"}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("method", PASSED)
def test_a_rule_drops_what_passes_its_hook(open_lab_in: OpenLab, method: str, hook: str) -> None:
    with open_lab_in(method) as lab:
        director = lab.node("director")
        dropped = director.run("iptables-legacy", "-t", "mangle", "-A", hook, "-s", "203.0.113.10", "-j", "DROP")
        assert dropped.status == 0, dropped.output
        # By TUN it is the outer packet that leaves, and by NAT the reply that is forwarded.
        for match in (("-p", "ipencap"), ("-d", "203.0.113.10")):
            assert director.run("iptables-legacy", "-t", "mangle", "-A", hook, *match, "-j", "DROP").status == 0
        results = {item.name: item.verdict for item in lab.verify().expectations}
    assert (results["answered"] is Verdict.FAIL) == (hook in PASSED[method])
    if hook in REQUEST:
        assert results[REQUESTS[method]] is Verdict.FAIL
    else:
        assert results[REQUESTS[method]] is Verdict.PASS


def test_the_virtual_service_is_found_before_a_socket_of_the_directors(open_lab_in: OpenLab) -> None:
    """Its destination is local, but no process of the director's gets the packet."""
    with open_lab_in("dr") as lab:
        director = lab.node("director")
        assert director.run("bash", "-c", "ip route get 198.18.0.10").output.startswith("local 198.18.0.10")
        serving = "import socket,time; s=socket.create_server(('198.18.0.10', 80)); time.sleep(60)"
        started = director.run("bash", "-c", f'setsid python3 -c "{serving}" >/dev/null 2>&1 </dev/null & sleep 1')
        assert started.status == 0
        assert "198.18.0.10:80" in director.run("ss", "-ltn").output
        assert lab.verify().verdict is Verdict.PASS
