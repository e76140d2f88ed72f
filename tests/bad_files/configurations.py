"""Bad configurations of directors, made from the good ones by a single edit each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RULES, LISTING, KEEPALIVED = "good.rules", "good.listing", "good.keepalived.conf"
GOOD = {name: (HERE / name).read_text(encoding="utf-8") for name in (RULES, LISTING, KEEPALIVED)}


@dataclass(frozen=True)
class BadConfiguration:
    """`old` becomes `new` in a good file; the finding is on the line of the edit, or `after` lines further down."""

    name: str
    good: str
    old: str
    new: str
    words: tuple[str, ...]
    after: int = 0
    warning: bool = False

    @property
    def text(self) -> str:
        assert GOOD[self.good].count(self.old) == 1, f"{self.old!r} must stand once in {self.good}"
        return GOOD[self.good].replace(self.old, self.new)

    @property
    def line(self) -> int:
        return GOOD[self.good].count("\n", 0, GOOD[self.good].index(self.old)) + 1 + self.after


def rules(name: str, old: str, new: str, *words: str, after: int = 0) -> BadConfiguration:
    return BadConfiguration(name, RULES, old, new, words, after)


def rules_warning(name: str, old: str, new: str, *words: str, after: int = 0) -> BadConfiguration:
    return BadConfiguration(name, RULES, old, new, words, after, warning=True)


def listing(name: str, old: str, new: str, *words: str, after: int = 0) -> BadConfiguration:
    return BadConfiguration(name, LISTING, old, new, words, after)


def keepalived(name: str, old: str, new: str, *words: str, after: int = 0) -> BadConfiguration:
    return BadConfiguration(name, KEEPALIVED, old, new, words, after)


def keepalived_warning(name: str, old: str, new: str, *words: str, after: int = 0) -> BadConfiguration:
    return BadConfiguration(name, KEEPALIVED, old, new, words, after, warning=True)


WEB, OPS, MAIL, SITE = "-t 192.0.2.100:80", "-u 192.0.2.100:53", "-t 192.0.2.102:25", "-t 192.0.2.101:443"

UNREADABLE_RULES = [
    rules("another-command", f"-A {WEB}", f"-E {WEB}", "expected -A (a service) or -a (a server)", "'-E'"),
    rules("unknown-option", "-s wrr", "-s wrr --weighted", "-A has no such option", "'--weighted'"),
    rules("option-of-a-server", "-s wrr", "-s wrr -w 1", "-A has no such option", "'-w'"),
    rules("option-of-a-service", "-g -w 3", "-g -w 3 -p 300", "-a has no such option", "'-p'"),
    rules("stray-word", "-s wrr", "-s wrr now", "no such option", "'now'"),
    rules("option-without-argument", "-s wrr", "-s", "-s without its argument"),
    rules("argument-of-a-switch", "-s rr -o", "-s rr --ops=yes", "--ops takes no argument"),
    rules("option-twice", "-g -w 3", "-g -w 3 -w 4", "more than one --weight"),
    rules("two-methods", "-g -w 3", "-g -m -w 3", "more than one forwarding method", "--gatewaying and --masquerading"),
    rules("two-checksums", "--tun-csum", "--tun-csum --tun-nocsum", "more than one tunnel checksum"),
    rules("two-services-in-one", f"-A {WEB}", f"-A {WEB} -f 3", "more than one service"),
    rules("no-service", f"-A {WEB}", "-A", "no service: expected -t, -u, -f or --sctp-service"),
    rules("no-server", "-r 198.51.100.11:80 -g -w 3", "-g -w 3", "no server: expected -r"),
    rules("server-before-its-service", f"-A {WEB} -s wrr\n", "", "service that is not there", "TCP 192.0.2.100:80"),
    rules("name-for-an-address", f"-A {WEB}", "-A -t www:80", "not an address", "'www'", "with -n"),
    rules("name-for-a-port", f"-A {WEB}", "-A -t 192.0.2.100:http", "not a port", "'http'", "with -n"),
    rules("port-too-large", f"-A {WEB}", "-A -t 192.0.2.100:65536", "not a port: expected 0 to 65535"),
    rules("address-with-scope", "[2001:db8:9::11]:25", "[fe80::1%eth0]:25", "scope"),
    rules("address-without-brackets", "[2001:db8:9::11]:25", "2001:db8:9::11:65536", "not an address"),
    rules("mark-zero", "-A -f 7", "-A -f 0", "not a firewall mark: expected 1 to 4294967295"),
    rules("family-of-an-address", f"-A {WEB}", f"-A {WEB} -6", "-6 without -f"),
    rules("negative-weight", "-g -w 3", "-g -w -3", "-w without its argument"),
    rules("mask-with-holes", "-M 255.255.255.0", "-M 255.0.255.0", "not a netmask", "contiguous"),
    rules("mask-without-persistence", "-p 600 -M", "-M", "--netmask without persistence"),
    rules("engine-without-persistence", "-p 60 --pe sip", "--pe sip", "--pe without persistence"),
    rules("unknown-flag", "-b mh-port", "-b mh-ports", "unknown scheduler flag", "'mh-ports'"),
    rules("flag-without-a-name", "-b mh-port", "-b ", "-b without its argument"),
    rules("unknown-tunnel", "--tun-type gre", "--tun-type vxlan", "unknown tunnel type", "ipip, gue, gre"),
    rules("ops-of-ipvsadm-1.26", "-s rr -o", "-s rr ops", "'ops' without dashes", "write -o"),
    rules("pe-of-ipvsadm-1.26", "-p 60 --pe sip", "-p 60 pe sip", "'pe' without dashes", "write --pe"),
]

REFUSED = [
    rules("dr-port-map", "198.51.100.11:80 -g", "198.51.100.11:8080 -g", "method dr cannot map ports", "port 8080"),
    rules("tun-port-map", "10.9.0.11:25 -i", "10.9.0.11:26 -i", "method tun cannot map ports"),
    rules("mixed-families-dr", "198.51.100.12:80 -g", "[2001:db8::12]:80 -g", "IPv6 server of an IPv4", "method tun"),
    rules("mixed-families-nat", "10.0.0.11:8443 -m", "[2001:db8::12]:80 -m", "IPv6 server of an IPv4 service"),
    rules("unknown-scheduler", "-s wrr", "-s wwr", "unknown scheduler", "did you mean 'wrr'?"),
    rules("scheduler-in-capitals", "-s wrr", "-s WRR", "unknown scheduler", "did you mean 'wrr'?"),
    rules("duplicate-server", "198.51.100.12:80 -g", "198.51.100.11:80 -g", "duplicate server, as on line 3"),
    rules("duplicate-service", "-A -f 7 -6", f"-A {WEB} -s rr\n-A -f 7 -6", "duplicate service, as on line 2"),
    rules("port-0-without-persistence", "-A -f 7", "-A -t 192.0.2.1:0 -s rr\n-A -f 7", "port 0 without persistence"),
    rules("one-packet-tcp", "-s wrr", "-s wrr -o", "one-packet scheduling is for UDP"),
    rules("one-packet-sctp", "-A -f 7", "-A --sctp-service 192.0.2.1:80 -s rr -o\n-A -f 7", "for UDP: found SCTP"),
    rules("flag-of-another-scheduler", "-s sh -b", "-s wrr -b", "belongs to scheduler sh"),
    rules("flag-nobody-reads", "-s wrr", "-s wrr -b flag-1", "no scheduler of the kernel reads flag-1"),
    rules("persistence-too-long", "-p 600", "-p 2678401", "persistence timeout in seconds out of range", "2678400"),
    rules("persistence-of-no-time", "-p 600", "-p 0", "persistence timeout in seconds out of range"),
    rules("unknown-engine", "--pe sip", "--pe rtp", "unknown persistence engine"),
    rules("sip-over-tcp", "-p 600 -M 255.255.255.0", "-p 600 --pe sip", "reads UDP only"),
    rules("thresholds-crossed", "-x 200 -y 100", "-x 100 -y 200", "lower threshold above the upper one"),
    rules("weight-too-large", "-g -w 3", "-g -w 65536", "weight out of range: expected 0 to 65535"),
    rules("multicast-server", "198.51.100.12:80 -g", "224.0.0.5:80 -g", "routable unicast address"),
    rules("gue-without-port", "--tun-type gue --tun-port 6080", "--tun-type gue", "GUE port out of range"),
    rules("gre-with-port", "--tun-type gre", "--tun-type gre --tun-port 6080", "gre has no port"),
    rules("gre-with-remcsum", "--tun-nocsum", "--tun-remcsum", "gre ignores remcsum"),
    rules("tunnel-without-tun", "-m -w 4", "-m -w 4 --tun-type gre", "tunnel gre without method tun"),
    rules(
        "port-map-on-every-port",
        "-A -f 7 -6",
        "-A -t 192.0.2.9:0 -s rr -p 60\n-a -t 192.0.2.9:0 -r 10.0.0.11:80 -m\n-A -f 7 -6",
        "keeps the port the client asked for",
        after=1,
    ),
    rules("multicast-vip", f"-A {WEB}", "-A -t 224.0.0.9:80 -s rr\n-A -t 192.0.2.100:80", "no client can send"),
]
SERVES_NOBODY = [
    rules("no-servers", "-A -f 7", "-A -t 192.0.2.1:81 -s rr\n-A -f 7", "service without servers"),
    rules("all-weights-0", "[2001:db8::12]:0 -g -w 1", "[2001:db8::12]:0 -g -w 0", "all weights are 0", after=-2),
    rules("server-is-the-vip", "198.51.100.12:80 -g", "192.0.2.100:80 -g", "the server is the VIP of line 2"),
    rules("server-is-another-vip", "10.0.0.11:8443", "192.0.2.102:8443", "the server is the VIP of line"),
]

DOUBTFUL = [
    rules_warning(
        "every-port",
        "-A -f 7 -6",
        "-A -t 192.0.2.9:0 -s rr -p 60\n-a -t 192.0.2.9:0 -r 198.51.100.11:0 -g\n-A -f 7 -6",
        "port 0 takes every port of the VIP",
    ),
    rules_warning(
        "weights-with-rr", "198.51.100.11:53 -g -w 5", "198.51.100.11:53 -g -w 1", "no effect with rr", after=-1
    ),
    rules_warning("one-packet-nat", "198.51.100.11:53 -g", "198.51.100.19:53 -m", "answers leave with the server's"),
    rules_warning("port-flag-and-persistence", "-s sh -b", "-s sh -p 60 -b", "persistence undoes sh-port"),
    rules_warning(
        "two-ports-of-one-site",
        "-A -t 192.0.2.102:25",
        "-A -t 192.0.2.9:80 -s rr -p\n-a -t 192.0.2.9:80 -r 198.51.100.11:80 -g\n"
        "-A -t 192.0.2.9:443 -s rr -p\n-a -t 192.0.2.9:443 -r 198.51.100.11:443 -g\n-A -t 192.0.2.102:25",
        "ports 80 and 443 are persistent each for itself (line 11)",
        after=2,
    ),
    rules_warning(
        "ftp-dr",
        "-A -f 7 -6",
        "-A -t 192.0.2.9:21 -s rr -p\n-a -t 192.0.2.9:21 -r 198.51.100.11:21 -g\n-A -f 7 -6",
        "FTP's data connections",
    ),
    rules_warning(
        "ftp-nat",
        "-A -f 7 -6",
        "-A -t 192.0.2.9:21 -s rr\n-a -t 192.0.2.9:21 -r 10.0.0.11:21 -m\n-A -f 7 -6",
        "FTP through nat needs its helper",
    ),
    rules_warning("nat-and-dr-on-one-server", "10.0.0.11:8443", "198.51.100.11:8443", "one server with nat and with"),
]

LISTINGS = [
    listing("listing-of-counters", "Forward Weight ActiveConn InActConn", "Conns InPkts OutPkts", "use ipvsadm -Ln"),
    listing("row-cut-short", "Route   3      0          0", "Route   3", "a row of another length"),
    listing("unknown-forward-word", "Masq    1      0          0         \nUDP", "Nat 1 0 0\nUDP", "'Nat'"),
    listing("names-in-a-listing", "TCP  192.0.2.100:80", "TCP  192.0.2.100:http", "not a port", "with -n"),
    listing("not-a-service-line", "TCP  192.0.2.100:80 wrr", "TCP  192.0.2.100:80", "not a service"),
    listing("listed-server-without-service", "TCP  192.0.2.100:80 wrr\n", "", "a server before any service"),
    listing("listed-unknown-flag", "(sh-fallback,sh-port)", "(sh-ports)", "unknown scheduler flag"),
    listing("listed-duplicate-server", "198.51.100.12:80", "198.51.100.11:80", "duplicate server, as on line 6"),
    listing("listed-dr-port-map", "198.51.100.12:80", "198.51.100.12:81", "method dr cannot map ports"),
    listing("listed-server-is-the-vip", "198.51.100.12:80", "192.0.2.101:80", "the server is the VIP of line 8"),
]

KEEPALIVED_FILES = [
    keepalived("block-without-end", "virtual_server_group WEB {", "x {\nvirtual_server_group WEB {", "without an end"),
    keepalived("end-without-block", "global_defs {", "} global_defs {", "'}' without a block"),
    keepalived("brace-without-keyword", "global_defs {", "{ global_defs {", "'{' without a keyword"),
    keepalived(
        "server-without-block", "real_server 10.0.0.11 8080 { weight 1 }", "real_server 10.0.0.11 8080", "'{' after it"
    ),
    keepalived("service-without-block", "virtual_server fwmark 7 {", "virtual_server fwmark 8\nx {", "without a block"),
    keepalived("quotation-without-end", 'quorum_up "', "quorum_up 'x\"", "quotation without an end"),
    keepalived("line-that-goes-on", "lb_kind DR", "lb_kind DR \\", "a line that goes on"),
    keepalived("nested-too-deeply", "    state MASTER", "    " + "a { " * 20, "nested too deeply"),
    keepalived(
        "parameter", "global_defs {", "$VIP=192.0.2.1\nglobal_defs {", "parameters ($NAME=…)", "write the values"
    ),
    keepalived("condition", "    state MASTER", "    @main state MASTER", "conditions (@id)"),
    keepalived(
        "real-server-outside",
        "virtual_server group WEB {",
        "real_server 10.0.0.9 80 {\n}\nvirtual_server group WEB {",
        "real_server outside virtual_server",
    ),
    keepalived("unknown-block", "virtual_server fwmark 7", "virtul_server fwmark 7", "did you mean 'virtual_server'?"),
    keepalived(
        "unknown-service-keyword",
        "persistence_timeout 600",
        "persistance_timeout 600",
        "did you mean 'persistence_timeout'?",
    ),
    keepalived("unknown-server-keyword", "uthreshold 200", "u_threshold 200", "did you mean 'uthreshold'?"),
    keepalived("scheduler-inside-a-server", "weight 3", "lb_algo wrr", "unknown keyword in real_server"),
    keepalived(
        "unknown-group",
        "group WEB {\n    lvs_sched",
        "group WWW {\n    lvs_sched",
        "unknown virtual_server_group",
        "WEB",
    ),
    keepalived(
        "vip-with-prefix",
        "virtual_server 192.0.2.100 80",
        "virtual_server 192.0.2.100/24 80",
        "remove the prefix length",
    ),
    keepalived("vip-is-a-name", "virtual_server 192.0.2.100 80", "virtual_server www 80", "not an address", "'www'"),
    keepalived("bad-server-address", "real_server 198.51.100.11 80", "real_server 198.51.100 80", "not an address"),
    keepalived("bad-vrrp-address", "        192.0.2.101\n    }", "        192.0.2.999\n    }", "not an address"),
    keepalived("bad-port", "virtual_server 192.0.2.100 80", "virtual_server 192.0.2.100 http", "not a port"),
    keepalived("reversed-range", "192.0.2.110-111 8080", "192.0.2.111-110 8080", "unusable range"),
    keepalived("enormous-range", "192.0.2.110-111 8080", "10.0.0.0/8 8080", "1 to 256 addresses"),
    keepalived("broken-range", "192.0.2.110-111 8080", "192.0.2.1/33 8080", "not a range of addresses"),
    keepalived("method-in-small-letters", "lb_kind DR", "lb_kind dr", "unknown forwarding method", "NAT, DR, TUN"),
    keepalived("method-without-value", "lb_kind DR", "lb_kind", "lb_kind without its value"),
    keepalived("tunnel-option", "TUN type gue port 6080 csum", "TUN gue", "unknown option of TUN"),
    keepalived("unknown-tunnel-type", "TUN type gue port 6080 csum", "TUN type vxlan", "unknown tunnel type"),
    keepalived("unknown-protocol", "protocol tcp", "protocol dccp", "unknown protocol"),
    keepalived("weight-of-no-number", "weight 3", "weight heavy", "not a weight"),
    keepalived("mark-without-value", "virtual_server fwmark 7", "virtual_server fwmark", "fwmark without its value"),
    keepalived("granularity-of-another-family", "granularity 64", "granularity 255.255.255.0", "prefix length"),
    keepalived(
        "port-map-in-dr", "real_server 198.51.100.11 80", "real_server 198.51.100.11 8080", "dr cannot map ports"
    ),
    keepalived(
        "sorry-server-port-map",
        "sorry_server 198.51.100.99 80",
        "sorry_server 198.51.100.99 8080",
        "dr cannot map ports",
    ),
    keepalived("mixed-families", "real_server 198.51.100.11 80", "real_server 2001:db8::11 80", "needs method tun"),
    keepalived("scheduler-of-keepalived", "lb_algo wrr", "lb_algo wwr", "unknown scheduler", "did you mean 'wrr'?"),
    keepalived(
        "all-weights-of-keepalived-0",
        "real_server 10.0.0.11 8080 { weight 1 }",
        "real_server 10.0.0.11 8080 { weight 0 }",
        "all weights are 0",
        after=5,
    ),
    keepalived(
        "server-is-vip-in-keepalived",
        "real_server 198.51.100.11 80",
        "real_server 192.0.2.101 80",
        "the server is the VIP of line",
    ),
    keepalived(
        "duplicate-virtual-server",
        "virtual_server fwmark 7 {",
        "virtual_server fwmark 7 {\n real_server 2001:db8::11 { }\n}\nvirtual_server fwmark 7 {",
        "duplicate service",
        after=3,
    ),
    keepalived_warning(
        "no-protocol",
        "virtual_server fwmark 7 {",
        "virtual_server 192.0.2.101 53 {\n real_server 10.0.0.11 53 { }\n}\nvirtual_server fwmark 7 {",
        "no protocol: keepalived makes it UDP",
    ),
    keepalived_warning(
        "no-port",
        "virtual_server fwmark 7 {",
        "virtual_server 192.0.2.101 {\n protocol TCP\n real_server 10.0.0.11 { }\n}\nvirtual_server fwmark 7 {",
        "keepalived makes it persistent for 360 s",
    ),
    keepalived_warning(
        "vip-nobody-holds", "192.0.2.100/24 dev", "192.0.2.103/24 dev", "no vrrp_instance holds this VIP", after=10
    ),
]

CONFIGURATIONS = [*UNREADABLE_RULES, *REFUSED, *SERVES_NOBODY, *DOUBTFUL, *LISTINGS, *KEEPALIVED_FILES]
