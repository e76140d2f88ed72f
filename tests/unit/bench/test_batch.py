"""The script with `ip -batch`: everything `plan --shell` says, in few processes."""

from __future__ import annotations

import re

from lvslab.bench.batch import batch_script, removal_script
from lvslab.bench.contestants import for_mininet, network_plan
from lvslab.plan import make_plan
from lvslab.plan.shell import shell_script
from lvslab.topology import load_topology

DR = load_topology("dr", params={"real_servers": 2})


def words(script: str) -> list[str]:
    """Return what a script says about each namespace, one item for each word of `ip` and each sysctl, in any order."""
    found, namespace = [], ""
    for line in script.splitlines():
        if start := re.fullmatch(r"ip (?:-n (\S+) )?-batch - <<'END'", line):
            namespace = start[1] or ""
        elif found_sysctl := re.fullmatch(r"ip netns exec (\S+) sysctl -q -w (.*)", line):
            found += [f"{found_sysctl[1]}: sysctl {each}" for each in found_sysctl[2].split()]
        elif typed := re.fullmatch(r"ip -n (\S+) (.*)", line):
            found.append(f"{typed[1]}: {typed[2]}")
        elif added := re.fullmatch(r"ip (netns add \S+)", line):
            found.append(f": {added[1]}")
        elif line.startswith(("ip netns exec", "modprobe")):
            found.append(line)
        elif line not in ("END", "set -e") and not line.startswith("#"):
            found.append(f"{namespace}: {line}")
    return sorted(found)


def test_it_says_all_that_the_shell_text_says() -> None:
    plan = make_plan(DR)
    assert words(batch_script(plan)) == words(shell_script(plan))


def test_a_network_takes_one_process_for_all_namespaces_and_one_or_two_for_each() -> None:
    script = batch_script(network_plan(DR))
    assert script.count("ip -batch") == 1
    assert script.count(" -n rs1 -batch") == 1
    assert script.index("netns add rs2") < script.index("-n sw-inside") < script.index("-n rs1 ")


def test_removal_deletes_every_namespace_in_one_process() -> None:
    script = removal_script(make_plan(DR))
    assert script.count("ip -batch") == 1
    assert [line.split()[-1] for line in script.splitlines() if line.startswith("netns delete")] == [
        *("sw-outside", "sw-inside", "client", "router", "director", "rs1", "rs2")
    ]


def test_mininet_is_given_the_same_network() -> None:
    wanted = for_mininet(DR)
    assert wanted["switches"] == ["sw-outside", "sw-inside"]
    router = next(host for host in wanted["hosts"] if host["name"] == "router")
    assert router == {
        "name": "router",
        "cables": [("sw-outside", "203.0.113.1/24"), ("sw-inside", "198.18.0.1/23")],
        "gateway": None,
    }
    assert next(host for host in wanted["hosts"] if host["name"] == "rs2")["gateway"] == "198.18.0.1"
