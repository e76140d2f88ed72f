"""Of a submission only what a snapshot writes is typed again; whatever else it says is foreign."""

from __future__ import annotations

import subprocess

import pytest

from lvslab.labs.replay import ForeignCommandError, retyped

OWN = [
    "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore",
    "echo '4096 16384' > /proc/sys/net/ipv4/vs/sync_threshold",
    "ip link add vip0 type dummy",
    "ip link add t1 type ipip remote 198.18.0.2 local 198.18.0.1",
    "ip link set vip0 mtu 1400",
    "ip link set vip0 arp off",
    "ip link set vip0 up",
    "ip link del vip0",
    "ip address del 198.18.0.10/32 dev lo || true",
    "ip address replace 2001:db8::10/128 dev lo",
    "ip route del default via 198.18.0.1 dev eth0 || true",
    "ip route replace default via 198.18.0.1 dev eth0 metric 10 table 100 mtu 1400",
    "ip neighbour replace 198.18.0.10 lladdr 02:00:00:00:01:00 dev eth0 nud permanent",
    "arptables-legacy -F",
    "arptables-legacy -P OUTPUT ACCEPT",
    "arptables-legacy -A OUTPUT -j mangle -s 198.18.0.10 --mangle-ip-s 198.18.0.11",
    "ipvsadm -C",
    "ipvsadm -A -t 198.18.0.10:80 -s wrr -p 300 -M 255.255.255.0",
    "ipvsadm -A -t [2001:db8::10]:80 -s sh -b sh-port,sh-fallback",
    "ipvsadm -a -t 198.18.0.10:80 -r 198.18.0.11:80 -i -w 3 --tun-type gue --tun-port 6080",
    "ipvsadm --set 900 120 300",
]
RULES = [
    "*mangle",
    ":PREROUTING ACCEPT [0:0]",
    ":mine - [0:0]",
    '-A PREROUTING ! -s 198.18.0.0/24 -p tcp -m multiport --dports 80,443 -m comment --comment "two words" -j MARK',
    "-A PREROUTING -m statistic --mode nth --every 2 --packet 0 -j mine",
    "COMMIT",
]


def restored(*rules: str) -> str:
    return "\n".join(["iptables-legacy-restore <<'END'", *rules, "END"])


@pytest.mark.parametrize("line", [*OWN, restored(*RULES)])
def test_what_a_snapshot_writes_is_typed(line: str) -> None:
    written = retyped(f"{line}\n")
    assert written.splitlines()[0].split()[0] == line.split(maxsplit=1)[0]
    if "END" in line:
        assert written == f"{line}\n"


def test_a_device_that_cannot_be_made_again_is_passed_over() -> None:
    assert retyped("# wg0 (wireguard) cannot be made again\n") == ""


@pytest.mark.parametrize(
    "line",
    [
        "id",
        "mkdir -p /tmp/h; mount -t hostfs none /tmp/h -o /root",
        "cp -f /bin/false /usr/sbin/ipvsadm",
        "echo c > /proc/sysrq-trigger",
        "echo $(id) > /proc/sys/net/ipv4/ip_forward; id",
        "echo 1 > /proc/sys/net/ipv4/../../kernel/core_pattern",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo 1 2 > /proc/sys/net/ipv4/ip_forward",
        "ip netns exec x id",
        "ip -batch /etc/passwd",
        "ip link set eth0 netns 1",
        "ip link set eth0 name x",
        "ip link add x type veth peer name y",
        "ip address del 198.18.0.10/32 dev lo || id",
        "ip route replace default via $(id)",
        "ip route replace default via 1.2.3.4; id",
        "ip route replace default via 1.2.3.4\x0bid",
        "ipvsadm -R",
        "ipvsadm -A -t $(id):80",
        "ipvsadm -A -t '1.2.3.4:80;id'",
        "ipvsadm",
        "arptables-legacy -A INPUT --modprobe=/tmp/x -j DROP",
        "arptables-legacy -A INPUT -M /tmp/x -j DROP",
        "arptables-legacy -A INPUT -j ../../../tmp/x",
        "arptables-legacy -A INPUT -j DROP; id",
        "'unfinished",
        restored("*filter", "-A INPUT -m ../../tmp/x -j DROP", "COMMIT"),
        restored("*filter", "-A INPUT -j../../tmp/x", "COMMIT"),
        restored("*filter", "-A INPUT --modp /tmp/x -j DROP", "COMMIT"),
        restored("*filter", "-A INPUT --modprobe=/tmp/x", "COMMIT"),
        restored("*filter", "-A INPUT '-M' x", "COMMIT"),
        restored("*filter", "id", "COMMIT"),
        restored("*filter", "-D INPUT 1", "COMMIT"),
        restored("*filter", "END", "id"),
        "iptables-restore <<'END'\n*filter",
        "iptables-restore -M /tmp/x <<'END'\nEND",
        "iptables-restore <<'END'; id\nEND",
    ],
)
def test_anything_else_is_refused(line: str) -> None:
    with pytest.raises(ForeignCommandError):
        retyped(f"{line}\n")


def test_too_many_lines_are_refused() -> None:
    with pytest.raises(ForeignCommandError, match="lines"):
        retyped("ipvsadm -C\n" * 20_001)


def test_words_come_to_the_program_as_they_stand_in_the_submission() -> None:
    """The shell takes nothing of a word for its own."""
    script = retyped("ipvsadm -A -t [2001:db8::10]:80 -s rr\narptables-legacy -A OUTPUT ! -s 1.2.3.4 -j DROP\n")
    shown = "ipvsadm() { printf '%s\\n' \"$@\"; }; arptables-legacy() { printf '%s\\n' \"$@\"; }\n" + script
    done = subprocess.run(["bash", "-e", "-c", shown], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [
        "-A",
        "-t",
        "[2001:db8::10]:80",
        "-s",
        "rr",
        "-A",
        "OUTPUT",
        "!",
        "-s",
        "1.2.3.4",
        "-j",
        "DROP",
    ]
