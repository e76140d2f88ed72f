"""Bad topology files, made from the good one by a single edit each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = "# here"
GOOD = (Path(__file__).parent / "good.yaml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class BadFile:
    """`old` becomes `new`; the fault is on the line of the edit, or on the line of `new` that says ``# here``."""

    name: str
    old: str
    new: str
    words: tuple[str, ...]
    """What the message must say: the key, and what is wrong with it."""

    @property
    def text(self) -> str:
        assert GOOD.count(self.old) == 1, f"{self.old!r} must stand once in the good file"
        return GOOD.replace(self.old, self.new)

    @property
    def line(self) -> int:
        marked = self.text.find(HERE)
        position = marked if marked >= 0 else GOOD.index(self.old)
        return self.text.count("\n", 0, position) + 1


def bad(name: str, old: str, new: str, *words: str) -> BadFile:
    return BadFile(name, old, new, words)


def bad_service(name: str, service: str, *words: str, node: str = "") -> BadFile:
    """Put one more service before the others, and perhaps one more node."""
    return bad(name, "services:\n", f"{node}\nservices:\n  - {{{service}}} {HERE}\n", *words)


SYNTAX = [
    bad("unclosed-flow-mapping", "on: {outside: 10}", "on: {outside: 10\n  router2: # here", "not YAML"),
    bad("unclosed-quote", "good\ntitle: {en", "'good\ntitle: {en", "not YAML", "quoted scalar from line 2"),
    bad("tab-indentation", "    role: client", "\trole: client", "not YAML"),
    bad("duplicate-key", "name: good", "name: good\nname: better # here", "duplicate key 'name'", "line 2"),
    bad("duplicate-nested-key", "role: client", "role: client\n    role: router # here", "duplicate key 'role'"),
    bad("anchor", "on: {outside: 10}", "on: &a {outside: 10}", "anchors and aliases"),
    bad("alias", "gateway: router", "gateway: *router", "anchors and aliases"),
    bad("merge-key", "role: client", "<<: {role: client}", "nodes.client.<<", "unknown key"),
    bad("tag", "port: 53", "port: !!str 53", "tags"),
    bad("python-tag", "port: 53", "port: !!python/object:os.system 53", "tags"),
    bad("number-as-key", "  client:", "  7:", "a key must be text", "quote"),
    bad("mapping-as-key", "  client:", "  ? {a: b}\n  :", "a key must be text"),
    bad("second-document", "\nservices:", "\n--- # here\nservices:", "a second YAML document", "one document"),
    bad("yaml-1.1", "# A topology", "%YAML 1.1\n--- # here\n# A topology", "YAML 1.2"),
    bad("infinite-number", "port: 53", "port: .inf", "not a usable number"),
    bad("endless-number", "port: 53", "port: " + "9" * 5000, "not a usable number"),
    bad("nested-too-deeply", "port: 53", "port: " + "[" * 40 + "]" * 40, "nested too deeply"),
    bad("control-character", "name: good", "name: go\x07od", "control character", "U+0007"),
    bad("nul-character", "name: good", "name: go\x00od", "control character", "U+0000"),
    bad("line-separator", "name: good", "name: go\u2028od", "control character", "U+2028"),
    bad("line-mark", "name: good", "name: go\ufdd09\ufdd1od", "control character", "U+FDD0"),
    bad("misplaced-list", "title: {en: Good, zh: 好}", "title:\n  - en: Good\n zh: 好 # here", "not YAML"),
]

TEMPLATES = [
    bad("undefined-parameter", '"{{ scheduler }}"', '"{{ sheduler }}"', "'sheduler' is undefined", "scheduler"),
    bad("unclosed-expression", '"{{ scheduler }}"', '"{{ scheduler"', "Jinja2"),
    bad("unknown-filter", '"{{ scheduler }}"', '"{{ scheduler | shout }}"', "Jinja2", "shout"),
    bad("unclosed-block", "\ntraffic:", "\n{% if true %}\ntraffic: # here", "Jinja2", "Unexpected end of template"),
    bad("unknown-statement", "networks:", "{% switch %}\nnetworks:", "Jinja2", "switch"),
    bad("division-by-zero", "port: 53", "port: {{ 1 // 0 }}", "Jinja2", "zero"),
    bad("wrong-operands", "port: 53", "port: {{ scheduler + 1 }}", "Jinja2"),
    bad("bad-index", "port: 53", "port: {{ [1][7] }}", "Jinja2"),
    bad("escape-from-sandbox", "port: 53", "port: {{ ''.__class__.__mro__ }}", "Jinja2", "unsafe"),
    bad("file-inclusion", "networks:", "{% include '/etc/passwd' %}\nnetworks:", "Jinja2", "loader"),
    bad(
        "endless-recursion", "port: 53", "port: {% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "Jinja2", "recursion"
    ),
    bad("oversized-range", "networks:", "{% for i in range(10 ** 9) %}{% endfor %}\nnetworks:", "Jinja2", "Range"),
    bad(
        "fault-after-a-loop",
        "networks:",
        "{% for i in range(5) %}\n# line {{ i }}\n{% endfor %}\nnetworks:\n  loop: nowhere # here",
        "networks.loop",
        "not a subnet",
    ),
    bad(
        "fault-inside-a-loop",
        "  ns:\n",
        "{% for i in range(3) %}\n  x{{ i }}:\n    role: client\n    on: {mars: 1} # here\n{% endfor %}\n  ns:\n",
        "nodes.x0.on.mars",
        "unknown network",
    ),
    bad("fault-after-a-comment", "port: 53", "{# one\n    two #}\n    port: 99999 # here", "services[1].port", "65535"),
    bad(
        "fault-after-trimming",
        "port: 53",
        "{%- if true %}\n\n    port: 0 {# here #} # here\n{%- endif %}",
        "services[1].port",
    ),
    bad("parameter-that-is-a-list", "scheduler: rr\n", "scheduler: [rr]\n", "params.scheduler", "a list"),
    bad("parameter-without-value", "scheduler: rr\n", "scheduler:\n", "params.scheduler", "nothing"),
    bad("parameter-name", "scheduler: rr\n", "Scheduler-Name: rr\n", "params.Scheduler-Name", "parameter name"),
    bad("parameter-from-template", "prefix: 32", "prefix: {{ 16 * 2 }}", "params"),
    bad("parameter-text-from-template", "prefix: 32", 'prefix: "{{ 16 * 2 }}"', "params", "without Jinja2"),
]

UNKNOWN_KEYS = [
    bad("unknown-top-key", "networks:", "netwroks: # here", "netwroks", "unknown key", "did you mean 'networks'?"),
    bad("unknown-node-key", "gateway: router", "gatway: router", "nodes.director.gatway", "did you mean 'gateway'?"),
    bad("unknown-service-key", "persistence: 300", "persistance: 300", "services[0].persistance", "'persistence'"),
    bad("unknown-server-key", "weight: 4", "wieght: 4", "services[1].servers[0].wieght", "'weight'"),
    bad("unknown-route-key", "via: 192.0.2.3", "via: 192.0.2.3, dev: eth0", "nodes.director.routes[0].dev", "unknown"),
    bad("unknown-name-key", "resolver: cache", "resolvr: cache", "dns[0].resolvr", "did you mean 'resolver'?"),
    bad("unknown-traffic-key", "answer_bytes: 1000", "bytes: 1000", "traffic.bytes", "answer_bytes"),
    bad("unknown-language", "zh: 好", "de: Gut", "title.de", "unknown key"),
    bad("missing-name", "name: good\n", "", "name", "required key is missing"),
    bad("missing-role", "  client:\n    role: client\n", "  client:\n", "nodes.client.role", "required key is missing"),
    bad(
        "missing-networks-of-node",
        "  cache:\n",
        "  cache2: {role: client} # here\n  cache:\n",
        "nodes.cache2.on",
        "missing",
    ),
    bad_service(
        "missing-method",
        "vip: 198.18.0.99, port: 1, scheduler: rr, servers: rs1",
        "services[0].method",
        "required key is missing",
    ),
    bad("missing-english-title", "en: Good, ", "", "title.en", "missing"),
    bad("missing-next-hop", ", via: 192.0.2.3", "", "nodes.director.routes[0].via", "missing"),
    bad("unknown-role", "role: resolver", "role: resolvr", "nodes.cache.role", "did you mean 'resolver'?"),
    bad("unknown-method", "method: nat", "method: masq", "services[1].method", "one of nat, tun, dr"),
    bad("local-is-no-method-to-ask-for", "method: nat", "method: local", "services[1].method", "one of nat, tun, dr"),
    bad("unknown-protocol", "protocol: udp", "protocol: dccp", "services[1].protocol", "one of tcp, udp, sctp"),
]

_TEXT, _NUMBER, _MAPPING, _LIST = "text", "a whole number", "a mapping", "a list"
_WRONG = {_TEXT: "word", _NUMBER: "7", _MAPPING: "{a: b}", _LIST: "[[a]]"}
_KEYS = [
    ("name: good", "name", [_NUMBER, _MAPPING, _LIST]),
    ("title: {en: Good, zh: 好}", "title", [_TEXT, _NUMBER, _LIST]),
    ("outside: 203.0.113.0/24", "networks.outside", [_NUMBER, _MAPPING, _LIST]),
    ("role: client", "nodes.client.role", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("on: {outside: 10}", "nodes.client.on", [_TEXT, _NUMBER, _LIST]),
    ("gateway: router", "nodes.director.gateway", [_NUMBER, _MAPPING, _LIST]),
    ("routes: [{to: 192.0.2.128/25, via: 192.0.2.3}]", "nodes.director.routes", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("sysctls: {net.ipv4.conf.all.log_martians: 1}", "nodes.rs[1-3].sysctls", [_TEXT, _NUMBER, _LIST]),
    ("addresses: {lo: [198.51.100.7/32]}", "nodes.rs[1-3].addresses", [_TEXT, _NUMBER, _LIST]),
    ("server: nginx", "nodes.rs[1-3].server", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("rate: unlimited", "nodes.spare.rate", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("delay: {private: 20ms}", "nodes.spare.delay", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("without: [server]", "nodes.spare.without", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("vip: 192.0.2.100", "services[1].vip", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("port: 53", "services[1].port", [_TEXT, _MAPPING, _LIST]),
    ("method: nat", "services[1].method", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("scheduler: wrr", "services[1].scheduler", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("director: director", "services[1].director", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("servers: rs*", "services[0].servers", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("weights: [3, 2, 1]", "services[0].weights", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("persistence: 300", "services[0].persistence", [_TEXT, _MAPPING, _LIST]),
    ('vip_prefix: "{{ prefix }}"', "services[0].vip_prefix", [_TEXT, _MAPPING, _LIST]),
    ("server: ns", "dns[0].server", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("resolver: cache", "dns[0].resolver", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("ttl: 60", "dns[0].ttl", [_TEXT, _MAPPING, _LIST]),
    ("servers: [rs1, rs2]", "dns[0].servers", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("without: [arp_ignore@rs2]", "without", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("expect: [method, arp, dns]", "expect", [_TEXT, _NUMBER, _MAPPING, _LIST]),
    ("traffic: {connections: 20, answer_bytes: 1000, request_bytes: 2000}", "traffic", [_TEXT, _NUMBER, _LIST]),
]
WRONG_KINDS = [
    bad(f"{key}-is-{kind.removeprefix('a ').replace(' ', '-')}", old, f"{old.split(':', 1)[0]}: {_WRONG[kind]}", key)
    for old, key, kinds in _KEYS
    for kind in kinds
]

MEANING = [
    bad("bad-node-name", "  client:", "  Client_1:", "nodes.Client_1", "unusable name", "RFC 1123"),
    bad("long-node-name", "  client:", "  client-number-one:", "unusable name", "at most 12"),
    bad("bad-network-name", "  private: [", "  -x: [203.0.112.0/24]\n  private: [", "networks.-x", "unusable name"),
    bad("node-named-as-a-switch", "  client:", "  sw-outside:", "nodes.sw-outside", "taken", "network outside"),
    bad("node-named-as-a-bridge", "  client:", "  br0:", "nodes.br0", "a name that is taken", "the kernel keeps it"),
    bad("node-named-as-a-scope", "  client:", "  all:", "nodes.all", "a name that is taken", "the kernel keeps it"),
    bad(
        "node-named-as-a-tunnel", "  client:", "  tunl0:", "nodes.tunl0", "a name that is taken", "the kernel keeps it"
    ),
    bad("bad-topology-name", "name: good", "name: not good", "name", "unusable name"),
    bad(
        "node-made-twice",
        "  spare:",
        "  rs2: {role: client, on: {outside: 77}}\n  spare:",
        "nodes.rs2",
        "duplicate node",
    ),
    bad("reversed-group", "rs[1-{{ real_servers }}]:", "rs[9-3]:", "nodes.rs[9-3]", "group without members"),
    bad("oversized-group", "rs[1-{{ real_servers }}]:", "rs[1-257]:", "at most 256", "found 257"),
    bad("malformed-group", "rs[1-{{ real_servers }}]:", "rs[1..3]:", "malformed group", "rs[1-4]"),
    bad("star-as-node-name", "rs[1-{{ real_servers }}]:", "rs*:", "malformed group"),
    bad("subnet-with-host-bits", "198.18.0.0/24", "198.18.0.1/24", "networks.inside", "host bits", "198.18.0.0/24"),
    bad("subnet-missing", "subnets: 100.64.0.0/24, ", "", "networks.wan.subnets", "required key is missing"),
    bad("network-key", "rate: 1.5gbit", "speed: 1.5gbit", "networks.wan.speed", "unknown key", "subnets, rate, delay"),
    bad("rate-without-unit", "rate: 1.5gbit", "rate: 100", "networks.wan.rate", "not a rate", "100mbit", "found '100'"),
    bad("rate-in-bytes", "rate: 1.5gbit", "rate: 100MBps", "networks.wan.rate", "not a rate", "8mbit is 1 megabyte"),
    bad("rate-too-low", "rate: 1.5gbit", "rate: 1kbit", "networks.wan.rate", "8kbit to 10gbit", "found '1kbit'"),
    bad("rate-too-high", "rate: 1.5gbit", "rate: 11gbit", "networks.wan.rate", "8kbit to 10gbit"),
    bad("rate-of-odd-bits", "rate: 1.5gbit", "rate: 9001bit", "networks.wan.rate", "a multiple of 8bit"),
    bad("rate-of-no-network", "rate: unlimited", "rate: {mars: 1mbit}", "nodes.spare.rate.mars", "unknown network"),
    bad("rate-of-anothers-network", "rate: unlimited", "rate: {wan: 1mbit}", "nodes.spare.rate.wan", "private"),
    bad("delay-without-unit", "delay: 5ms", "delay: 5", "networks.wan.delay", "not a delay", "for example 20ms or 1s"),
    bad("delay-too-fine", "delay: 5ms", "delay: 0.5ms", "networks.wan.delay", "whole milliseconds", "found '0.5ms'"),
    bad("delay-too-long", "delay: 5ms", "delay: 11s", "networks.wan.delay", "0ms to 10000ms"),
    bad("delay-of-a-card", "private: 20ms", "private: soon", "nodes.spare.delay.private", "not a delay"),
    bad("subnet-without-length", "198.18.0.0/24", "198.18.0.0", "networks.inside", "not a subnet"),
    bad("subnet-with-netmask", "198.18.0.0/24", "198.18.0.0/255.255.255.0", "networks.inside", "not a subnet"),
    bad("subnet-too-long", "198.18.0.0/24", "198.18.0.0/33", "networks.inside", "not a subnet"),
    bad("subnet-not-an-address", "198.18.0.0/24", "198.18.0.999/24", "networks.inside", "not a subnet"),
    bad("two-ipv4-subnets", '"2001:db8::/64"', "198.51.100.0/24", "networks.private", "several IPv4 subnets"),
    bad("network-without-subnet", '[192.0.2.0/24, "2001:db8::/64"]', "[]", "networks.private"),
    bad("overlapping-subnets", "  private: [", "  extra: 198.18.0.128/25\n  private: [", "overlapping", "of inside"),
    bad("loopback-subnet", "  private: [", "  extra: 127.0.1.0/24\n  private: [", "meaning of its own", "127.0.1.0/24"),
    bad("multicast-subnet", "  private: [", "  extra: 224.0.1.0/24\n  private: [", "meaning of its own"),
    bad("unknown-network", "on: {outside: 10}", "on: {outsde: 10}", "unknown network", "did you mean 'outside'?"),
    bad("node-on-no-network", "on: {outside: 10}", "on: {}", "nodes.client.on", "no network"),
    bad("no-address-on-network", "on: {outside: 10}", "on: {outside: []}", "interface without an address"),
    bad("host-number-too-large", "on: {outside: 10}", "on: {outside: 256}", "outside the network", "less than 256"),
    bad("network-address", "on: {outside: 10}", "on: {outside: 0}", "not a host's address", "203.0.113.0"),
    bad("broadcast-address", "on: {outside: 10}", "on: {outside: 255}", "not a host's address", "203.0.113.255"),
    bad("negative-host-number", "on: {outside: 10}", "on: {outside: -1}", "not an address", "-1"),
    bad("fractional-host-number", "on: {outside: 10}", "on: {outside: 1.5}", "wrong kind of value", "1.5"),
    bad("address-outside-network", "on: {outside: 10}", "on: {outside: 198.18.0.77}", "outside its network"),
    bad("address-with-length", "on: {outside: 10}", "on: {outside: 203.0.113.10/24}", "not an address"),
    bad("address-with-scope", '[192.0.2.40, "2001:db8::40"]', '[192.0.2.40, "fe80::1%eth0"]', "not an address"),
    bad("duplicate-address", "on: {outside: 53}", "on: {outside: 10}", "duplicate address", "cache and client"),
    bad("duplicate-address-on-one-node", "on: {outside: 53}", "on: {outside: [53, 53]}", "duplicate address"),
    bad("one-address-for-a-group", "on: {inside: 11+}", "on: {inside: 11}", "whole group", "write 11+"),
    bad("group-beyond-network", "on: {inside: 11+}", "on: {inside: 254+}", "nodes.rs[1-3].on.inside", "256"),
    bad(
        "group-runs-into-a-node",
        "on: {inside: 5}",
        "on: {inside: 12}",
        "duplicate address",
        "198.18.0.12 of ns and rs2",
    ),
    bad("unknown-gateway", "gateway: router", "gateway: ruoter", "nodes.director.gateway", "did you mean 'router'?"),
    bad("gateway-elsewhere", "gateway: router", "gateway: client", "gateway on no network of the node", "'client'"),
    bad(
        "gateway-address-elsewhere",
        "gateway: router",
        "gateway: 203.0.113.1",
        "next hop on no network",
        "198.18.0.0/24",
    ),
    bad("gateway-is-itself", "gateway: router", "gateway: 198.18.0.2", "next hop is the node itself"),
    bad("gateway-not-an-address", "gateway: router", "gateway: 198.18.0", "not an address"),
    bad(
        "two-routers",
        "rs[1-{{ real_servers }}]:",
        "r2: {role: router, on: {inside: 9}}\n  rs[1-3]: # here",
        "several possible default gateways",
        "router, r2",
    ),
    bad("route-to-nowhere", "to: 192.0.2.128/25", "to: default", "nodes.director.routes[0]", "not a subnet"),
    bad("route-via-elsewhere", "via: 192.0.2.3", "via: 203.0.113.1", "routes[0]", "next hop on no network"),
    bad("route-mixed-families", "via: 192.0.2.3", 'via: "2001:db8::3"', "routes[0]", "mixed address families"),
    bad("unknown-device", "addresses: {lo: [", "addresses: {wlan0: [", "addresses.wlan0", "unknown device", "eth0"),
    bad("further-address-without-length", "[198.51.100.7/32]", "[198.51.100.7]", "addresses.lo", "prefix length"),
    bad("sysctl-outside-net", "net.ipv4.conf.all.log_martians", "kernel.panic", "unusable sysctl", "net.ipv4"),
    bad("sysctl-with-slashes", "net.ipv4.conf.all.log_martians", "net/ipv4/ip_forward", "unusable sysctl"),
    bad("sysctl-with-newline", "log_martians: 1}", 'log_martians: "1\\n2"}', "unusable value"),
    bad("sysctl-boolean", "log_martians: 1}", "log_martians: true}", "expected text, found true"),
    bad("unknown-server-kind", "server: nginx", "server: ngnix", "unknown server", "did you mean 'nginx'?"),
    bad("server-on-a-client", "on: {outside: 10}", "on: {outside: 10}\n    server: nginx # here", "serves nothing"),
    bad("unknown-scheduler", "scheduler: wrr", "scheduler: wwr", "unknown scheduler", "did you mean 'wrr'?"),
    bad("vip-not-an-address", "vip: 192.0.2.100", "vip: 192.0.2", "services[1].vip", "not an address"),
    bad("vip-is-a-name", "vip: 192.0.2.100", "vip: www.cluster.example", "services[1].vip", "not an address"),
    bad("vip-in-no-network", "vip: 198.18.0.100", "vip: 198.51.100.1", "services[0].vip", "VIP in no network"),
    bad(
        "vip-without-director", "vip: 198.18.0.100", "vip: 203.0.113.100", "no director on the VIP's network", "outside"
    ),
    bad("vip-elsewhere", "vip: 192.0.2.100", "vip: 203.0.113.100", "VIP in no network of its director"),
    bad("vip-of-a-server", "vip: 198.18.0.100", "vip: 198.18.0.11", "VIP is a node's own address", "rs1"),
    bad("vip-of-the-director", "vip: 198.18.0.100", "vip: 198.18.0.2", "VIP is a node's own address", "director"),
    bad("vip-is-broadcast", "vip: 198.18.0.100", "vip: 198.18.0.255", "services[0].vip", "not a host's address"),
    bad_service(
        "mixed-families",
        "vip: '2001:db8::99', port: 1, method: dr, scheduler: rr, servers: rs1",
        "services[0].servers",
        "VIP's family",
        "an IPv6 address, found rs1",
    ),
    bad_service(
        "two-directors",
        "vip: 198.18.0.99, port: 1, method: dr, scheduler: rr, servers: rs1",
        "services[0].vip",
        "several directors",
        "add 'director:'",
        node="  second: {role: director, on: {inside: 3}}\n",
    ),
    bad("unknown-director", "director: director", "director: directr", "unknown director", "did you mean 'director'?"),
    bad("client-as-director", "director: director", "director: client", "unknown director"),
    bad("service-port-zero", "port: 53", "port: 0", "services[1].port", "1 to 65535"),
    bad("service-port-too-large", "port: 53", "port: 65536", "services[1].port", "1 to 65535"),
    bad("service-port-is-a-name", "port: 53", "port: domain", "services[1].port", "a whole number"),
    bad("server-port-too-large", "port: 8053", "port: 70000", "services[1].servers", "port out of range"),
    bad("port-map-in-dr", "servers: rs*", "servers: [{node: rs*, port: 8080}]", "port map", "kernel would ignore"),
    bad_service(
        "port-map-in-tun",
        "vip: 198.18.0.99, port: 80, method: tun, scheduler: rr, servers: [{node: rs1, port: 81}]",
        "services[0].servers[0]",
        "port map with method tun",
        "kernel would ignore",
    ),
    bad("weight-too-large", "weight: 4", "weight: 65536", "weight out of range", "0 to 65535"),
    bad("weight-negative", "weight: 4", "weight: -1", "weight out of range", "0 to 65535"),
    bad("too-few-weights", "weights: [3, 2, 1]", "weights: [3, 2]", "wrong number of weights", "expected 3"),
    bad(
        "weights-twice",
        "servers: rs*\n    weights: [3, 2, 1]",
        "servers: [{node: rs*, weight: 2}]\n    weights: [3, 2, 1] # here",
        "weights given twice",
    ),
    bad("no-servers", "servers: [rs1, rs2]", "servers: []", "dns[0].servers", "without servers"),
    bad("service-without-servers", "servers: rs*\n    weights: [3, 2, 1]", "servers: []", "without servers"),
    bad("undefined-server", "{node: spare,", "{node: spar,", "unknown real server", "did you mean 'spare'?"),
    bad("undefined-server-in-group", "servers: rs*", "servers: rs[2-4]", "unknown real server", "'rs4'"),
    bad("pattern-without-match", "servers: rs*", "servers: web*", "matches no real server", "'web*'"),
    bad("client-as-server", "{node: spare,", "{node: client,", "unknown real server", "'client'"),
    bad("duplicate-server", "servers: rs*\n    weights: [3, 2, 1]", "servers: [rs1, rs1]", "duplicate server", "rs1"),
    bad_service(
        "dr-server-out-of-reach",
        "vip: 198.18.0.99, port: 1, method: dr, scheduler: rr, servers: far",
        "services[0].servers",
        "dr needs a shared network",
        "use method tun",
        node="  far: {role: real-server, on: {outside: 40}}\n",
    ),
    bad_service(
        "nat-server-out-of-reach",
        "vip: 198.18.0.99, port: 1, method: nat, scheduler: rr, servers: far",
        "services[0].servers",
        "nat needs a shared network",
        "found far",
        node="  far: {role: real-server, on: {outside: 40}}\n",
    ),
    bad("persistence-zero", "persistence: 300", "persistence: 0", "services[0].persistence", "number out of range"),
    bad("persistence-over-31-days", "persistence: 300", "persistence: 2678401", "1 to 2678400"),
    bad("vip-prefix-zero", 'vip_prefix: "{{ prefix }}"', "vip_prefix: 0", "services[0].vip_prefix", "1 to 32"),
    bad("vip-prefix-33", 'vip_prefix: "{{ prefix }}"', "vip_prefix: 33", "services[0].vip_prefix", "1 to 32"),
    bad(
        "duplicate-service",
        "  - vip: 192.0.2.100\n    port: 53\n    protocol: udp",
        "  - vip: 198.18.0.100\n    port: 80\n    protocol: tcp",
        "services[1]",
        "duplicate service",
        "as services[0]",
    ),
    bad(
        "bad-dns-name",
        "name: www.cluster.example",
        "name: www..example",
        "dns[0].name",
        "unusable DNS name",
        "RFC 1035",
    ),
    bad("long-dns-label", "name: www.cluster.example", f"name: {'w' * 64}.example", "dns[0].name", "unusable DNS name"),
    bad("long-dns-name", "name: www.cluster.example", f"name: {'w.' * 127}example", "dns[0].name", "unusable DNS name"),
    bad("dns-name-with-final-dot", "name: www.cluster.example", "name: www.cluster.", "dns[0].name", "unusable DNS"),
    bad("unknown-name-server", "server: ns", "server: nx", "dns[0].server", "unknown name server", "one of ns"),
    bad("client-as-name-server", "server: ns", "server: client", "dns[0].server", "unknown name server"),
    bad("unknown-resolver", "resolver: cache", "resolver: ns", "dns[0].resolver", "unknown resolver", "cache"),
    bad("name-for-unknown-server", "servers: [rs1, rs2]", "servers: [rs1, rs9]", "dns[0].servers", "'rs9'"),
    bad("name-for-a-server-twice", "servers: [rs1, rs2]", "servers: [rs1, rs*]", "dns[0].servers", "duplicate server"),
    bad("ttl-too-long", "ttl: 60", "ttl: 2147483648", "dns[0].ttl", "0 to 2147483647"),
    bad("ttl-negative", "ttl: 60", "ttl: -1", "dns[0].ttl", "0 to 2147483647"),
    bad("dns-port-zero", "port: 80\n    servers: [rs1", "port: 0\n    servers: [rs1", "dns[0].port", "1 to 65535"),
    bad(
        "duplicate-dns-name",
        "\nwithout: [arp",
        "  - {name: www.cluster.example, server: ns, servers: rs3} # here\n\nwithout: [arp",
        "dns[1].name",
        "duplicate DNS name",
    ),
    bad("unknown-setting", "[arp_ignore@rs2]", "[arp_ignor@rs2]", "without[0]", "did you mean 'arp_ignore'?"),
    bad("setting-without-node", "[arp_ignore@rs2]", "[arp_ignore@]", "without[0]", "no node after '@'"),
    bad("setting-of-unknown-node", "[arp_ignore@rs2]", "[arp_ignore@rs8]", "without[0]", "unknown node", "'rs8'"),
    bad(
        "setting-nobody-has",
        "[arp_ignore@rs2]",
        "[tunnel]",
        "without[0]",
        "no such node has",
        "director: ",
        "rs1 … rs3",
    ),
    bad("setting-this-node-lacks", "without: [server]", "without: [vip]", "nodes.spare.without[0]", "spare: "),
    bad("setting-of-another-node", "without: [server]", "without: [vip@rs1]", "nodes.spare.without[0]", "'@'"),
    bad("unknown-expectation", "[method, arp, dns]", "[method, apr]", "expect[1]", "did you mean 'arp'?"),
    bad("no-connections", "connections: 20", "connections: 0", "traffic.connections", "1 to 10000"),
    bad("request-too-large", "request_bytes: 2000", "request_bytes: 8001", "traffic.request_bytes", "0 to 8000"),
    bad("request-below-nothing", "request_bytes: 2000", "request_bytes: -1", "traffic.request_bytes", "0 to 8000"),
    bad("mtu-too-small", "mtu: 1400", "mtu: 575", "networks.wan.mtu", "576 to 9000"),
    bad("mtu-of-nothing", "mtu: 1400", "mtu: 0", "networks.wan.mtu", "576 to 9000"),
    bad("mtu-too-large", "mtu: 1400", "mtu: 9001", "networks.wan.mtu", "576 to 9000"),
    bad("mss-too-small", "clamp_mss: 1200", "clamp_mss: 0", "nodes.router.clamp_mss", "256 to 8960"),
    bad("mss-too-large", "clamp_mss: 1200", "clamp_mss: 70000", "nodes.router.clamp_mss", "256 to 8960"),
    bad("caller-that-holds-the-vip", "connections: 20", "client: rs1", "traffic.client", "holds the VIP"),
    bad("answer-too-large", "answer_bytes: 1000", "answer_bytes: 16777217", "traffic.answer_bytes", "0 to 16777216"),
]

BAD_FILES = [*SYNTAX, *TEMPLATES, *UNKNOWN_KEYS, *WRONG_KINDS, *MEANING]
