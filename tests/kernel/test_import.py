"""An imported configuration runs: the lab's table is the file's, packets take the way its method means.

keepalived itself is the witness of how its configuration is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lvslab.importing import Format, read_configuration, recognise, topology_text
from lvslab.ipvs.compare import compare
from lvslab.ipvs.model import IntendedService
from lvslab.ipvs.text import read_saved
from lvslab.kernels.start import RunningKernel
from lvslab.lab import Lab
from lvslab.topology import load_text
from lvslab.topology.model import Topology
from lvslab.verify.result import Verdict
from tests.kernel.support import OpenLab, lab_in

pytestmark = pytest.mark.kernel

GOOD_KEEPALIVED = Path(__file__).parents[1] / "bad_files" / "good.keepalived.conf"

DR = """\
-A -t 192.0.2.100:80 -s wrr
-a -t 192.0.2.100:80 -r 192.0.2.11:80 -g -w 3
-a -t 192.0.2.100:80 -r 192.0.2.12:80 -g -w 1
"""
DR_ON_TWO_NETWORKS = DR.replace("192.0.2.1", "10.0.0.1").replace("10.0.0.100", "192.0.2.100")
NAT = """\
-A -u 192.0.2.100:53 -s rr
-a -u 192.0.2.100:53 -r 10.0.0.11:5353 -m -w 1
-a -u 192.0.2.100:53 -r 10.0.0.12:53 -m -w 1
-A -t [2001:db8::100]:80 -s wrr
-a -t [2001:db8::100]:80 -r [2001:db8:5::11]:8080 -m -w 2
-a -t [2001:db8::100]:80 -r [2001:db8:5::12]:8080 -m -w 1
"""
NAT_ON_ONE_NETWORK = "-A -t 192.0.2.100:80 -s rr\n-a -t 192.0.2.100:80 -r 192.0.2.11:8080 -m -w 1\n"
TUN = """\
-A -t 192.0.2.100:80 -s rr
-a -t 192.0.2.100:80 -r 10.0.0.11:80 -i -w 1 --tun-type ipip
-a -t 192.0.2.100:80 -r 10.9.0.11:80 -i -w 1 --tun-type ipip
-a -t 192.0.2.100:80 -r 192.0.2.11:80 -i -w 1 --tun-type ipip
"""
LISTED = """\
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  192.0.2.100:80 wlc persistent 60
  -> 192.0.2.11:80                Route   1      0          0
  -> 192.0.2.12:80                Route   1      0          0
"""
KEEPALIVED = """\
virtual_server 192.0.2.100 443 {
    lb_algo rr
    lb_kind DR
    protocol TCP
    real_server 192.0.2.11 443 { weight 1 }
    real_server 192.0.2.12 443 { weight 1 }
}
"""
SCTP = DR.replace("-t ", "--sctp-service ").replace(":80 ", ":3868 ")
KEEPALIVED_SCTP = KEEPALIVED.replace("TCP", "SCTP").replace("443", "3868").replace("DR", "NAT")
SOUND = {
    "dr": DR,
    "dr-two-nets": DR_ON_TWO_NETWORKS,
    "nat": NAT,
    "nat-one-net": NAT_ON_ONE_NETWORK,
    "tun": TUN,
    "listed": LISTED,
    "keepalived": KEEPALIVED,
    "sctp": SCTP,
    "keepalived-sctp": KEEPALIVED_SCTP,
}
BROKEN = {
    "dr": ("arp_ignore", "arp-owner"),
    "dr-two-nets": ("vip@rs1", "direct-reply"),
    "nat": ("default_route@rs1", "nat-reply"),
    "nat-one-net": ("default_route@rs1", "nat-reply"),
    "tun": ("tunnel@rs1", "tun-decapsulated"),
    "listed": ("arp_ignore", "arp-owner"),
    "keepalived": ("default_route@rs1", "direct-reply"),
    "sctp": ("single_homed@rs1", "association"),
    "keepalived-sctp": ("default_route@rs1", "nat-reply"),
}


def intended(text: str, text_format: Format) -> tuple[IntendedService, ...]:
    return tuple(each.intended for each in read_configuration(text, "file", text_format).services)


def differences(lab: Lab, ours: tuple[IntendedService, ...]) -> list[str]:
    return compare(ours, lab.ipvs("director").services())


def imported(name: str, without: tuple[str, ...] = ()) -> Topology:
    configuration = read_configuration(SOUND[name], name, recognise(SOUND[name]))
    return load_text(topology_text(configuration)[0], f"{name}.yaml", without=without)


@pytest.mark.parametrize("name", SOUND)
def test_an_imported_configuration_runs_and_is_the_files(name: str, open_lab_in: OpenLab) -> None:
    with open_lab_in(imported(name)) as lab:
        result = lab.verify()
        assert result.verdict is Verdict.PASS, result
        assert differences(lab, intended(SOUND[name], recognise(SOUND[name]))) == []


@pytest.mark.parametrize("name", SOUND)
def test_an_imported_configuration_can_be_broken(name: str, open_lab_in: OpenLab) -> None:
    setting, expectation = BROKEN[name]
    with open_lab_in(imported(name, without=(setting,))) as lab:
        result = lab.verify()
    failed = [each.name for each in result.expectations if each.verdict is Verdict.FAIL]
    assert any(each.split()[0] == expectation for each in failed), result


START = """
folder=$(mktemp -d) && cd "$folder" && printf %s "$1" > c.conf
keepalived -C -n -l -D -f "$folder/c.conf" -p "$folder/pid" -c "$folder/checkers.pid" > log 2>&1 &
for round in $(seq 600); do grep -q 'Startup complete' log && break; sleep 0.1; done
cat pid
"""


@pytest.fixture(scope="module")
def director(kernel: RunningKernel) -> Iterator[Lab]:
    with lab_in(kernel, "nat") as lab:
        yield lab


def installed_by_keepalived(lab: Lab, configuration: str) -> list[str]:
    """Let keepalived install a configuration; return how its table differs from what we read in it."""
    lab.ipvs("director").flush()
    node = lab.node("director")
    number = node.run("sh", "-c", START, "sh", configuration, timeout_s=120).output.strip()
    try:
        return differences(lab, intended(configuration, Format.KEEPALIVED))
    finally:
        node.run("kill", number)


@pytest.mark.parametrize("configuration", [GOOD_KEEPALIVED.read_text(), KEEPALIVED_SCTP], ids=["good", "sctp"])
def test_keepalived_installs_what_we_read(director: Lab, configuration: str) -> None:
    assert installed_by_keepalived(director, configuration) == []


DEFAULTS = """\
virtual_server 192.0.2.1 80 {
    real_server 198.51.100.11 { weight 1 }
}
virtual_server 192.0.2.2 80 {
    protocol TCP
    persistence_granularity 255.255.0.0
    real_server 198.51.100.11 8080 { weight 1 }
}
virtual_server 192.0.2.3 {
    protocol TCP
    lb_kind DR
    real_server 198.51.100.11
    {
    }
}
virtual_server fwmark 9 {
    lvs_method TUN
    real_server 2001:db8::11 { weight 1 }
}
"""


def test_keepalived_has_the_defaults_we_read(director: Lab) -> None:
    assert installed_by_keepalived(director, DEFAULTS) == []


def test_another_reading_would_have_been_noticed(director: Lab) -> None:
    text = GOOD_KEEPALIVED.read_text()
    director.ipvs("director").flush()
    director.ipvs("director").install(intended(text, Format.KEEPALIVED))
    assert differences(director, intended(text, Format.KEEPALIVED)) == []
    assert differences(director, intended(text.replace("weight 3", "weight 4"), Format.KEEPALIVED)) != []


def test_reading_a_save_of_an_empty_table_gives_nothing(director: Lab) -> None:
    director.ipvs("director").flush()
    assert read_saved(director.node("director").run("ipvsadm", "-Sn").output, "empty") == ()


def test_ipvsadm_takes_the_documents_faulty_table_without_a_word(director: Lab) -> None:
    document = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
    text = document.partition("<!-- file: web.rules -->\n```\n")[2].partition("```")[0]
    done = director.node("director").run("sh", "-c", 'ipvsadm -C; printf %s "$1" | ipvsadm -R', "sh", text)
    assert (done.status, done.output) == (0, "")
    assert len(director.ipvs("director").services()) == 3
