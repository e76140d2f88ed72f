"""How the real programs of a lab are called: argv, and the files they read, all as values.

dnsmasq(8): ``--host-record`` entries of one name are answered together, turned round by one each time, unless
``--no-round-robin``. Nothing of the machine's own configuration is read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lvslab.topology.model import Address, Filter, NameService, Protocol

DNS_PORT = 53
CACHED_NAMES = 2000
"""dnsmasq's cache holds 150 records by default, fewer than one name may have here."""

_DNSMASQ = (
    "dnsmasq",
    "--keep-in-foreground",
    "--conf-file=/dev/null",
    "--no-resolv",
    "--no-hosts",
    "--no-poll",
    "--pid-file",
    "--user=root",
    f"--cache-size={CACHED_NAMES}",
)


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A program to start and the TCP port it will listen on once it is ready."""

    argv: tuple[str, ...]
    tcp_port: int


def name_server(service: NameService) -> ProgramCall:
    """Return the call of an authoritative server for the plan's shell text: every record, with the name's TTL.

    A lab has its own built in instead: dnsmasq answers each TCP question from a child process, which does not rotate.
    """
    records = tuple(f"--host-record={service.name},{address},{service.ttl_s}" for _, address in service.records)
    return ProgramCall((*_DNSMASQ, "--local=/" + service.name + "/", *records), DNS_PORT)


def resolver(upstream: str) -> ProgramCall:
    """Return the call of the caching resolver in front of `upstream`."""
    return ProgramCall((*_DNSMASQ, "--no-round-robin", f"--server={upstream}"), DNS_PORT)


def marking_modules(versions: Collection[int], protocols: Collection[Protocol]) -> list[str]:
    """Return the modules that rules of `marking` need, for IPv4, IPv6 or both."""
    tables = _table_modules("mangle", versions)
    multiport = ["xt_multiport"] if Protocol.SCTP in protocols else []
    return [*tables, "xt_mark", "xt_tcpudp", *multiport] if tables else []


def masquerading_modules(versions: Collection[int]) -> list[str]:
    """Return the modules that rules of `masquerading` need, for IPv4, IPv6 or both."""
    tables = _table_modules("nat", versions)
    return [*tables, "xt_ipvs", "xt_MASQUERADE"] if tables else []


def _table_modules(table: str, versions: Collection[int]) -> list[str]:
    return [f"{tool}_{table}" for version, tool in ((4, "iptable"), (6, "ip6table")) if version in versions]


def _tables_tool(version: int) -> str:
    """Return the tool of the older tables, which every kernel with IPVS has.

    nftables may lack the family (Debian's UML 6.1).
    """
    return "iptables-legacy" if version == 4 else "ip6tables-legacy"


def masquerading(vip: Address) -> tuple[str, ...]:
    """Return the call that has the director put its own address in the place of a service's clients.

    iptables-extensions(8), ipvs and MASQUERADE.
    """
    match = ("-m", "ipvs", "--vaddr", str(vip))
    tool = _tables_tool(vip.version)
    return (tool, "-w", "-t", "nat", "-A", "POSTROUTING", *match, "-j", "MASQUERADE")


def marking(address: Address, protocol: Protocol, port: int, mark: int) -> tuple[str, ...]:
    """Return the call that has incoming packets marked before IPVS sees them (iptables-extensions(8), MARK)."""
    # The match `sctp` is in fewer kernels than `multiport`, which knows that protocol, too.
    ports = ("-m", "multiport", "--dports") if protocol is Protocol.SCTP else ("--dport",)
    match = ("-d", str(address), "-p", protocol.value, *ports, str(port))
    tool = _tables_tool(address.version)
    return (tool, "-w", "-t", "mangle", "-A", "PREROUTING", *match, "-j", "MARK", "--set-mark", str(mark))


CHAINS = ("INPUT", "FORWARD")
_MATCHES = {Filter.ICMP: ("-p", "icmp"), Filter.FRAGMENTS: ("-f",)}


def filter_modules() -> list[str]:
    return _table_modules("filter", (4,))


def clamping_modules() -> list[str]:
    return [*_table_modules("mangle", (4,)), "xt_TCPMSS", "xt_tcpudp"]


def dropping(chain: str, what: Filter) -> tuple[str, ...]:
    """Return the call that drops all ICMP, or all fragments but first ones (iptables(8), -f)."""
    return (_tables_tool(4), "-w", "-A", chain, *_MATCHES[what], "-j", "DROP")


def clamping(mss: int) -> tuple[str, ...]:
    """Return the call that lowers the MSS in every SYN and SYN-ACK (iptables-extensions(8), TCPMSS)."""
    opening = ("-p", "tcp", "--tcp-flags", "SYN,RST", "SYN")
    return (_tables_tool(4), "-w", "-t", "mangle", "-A", "POSTROUTING", *opening, "-j", "TCPMSS", "--set-mss", str(mss))


ARP_FILTER_MODULES = ("arptable_filter", "arpt_mangle")


def dropping_arp_requests(address: Address) -> tuple[str, ...]:
    """Return the call that has a node not hear who asks for an address of its own (arptables-legacy(8))."""
    return ("arptables-legacy", "-A", "INPUT", "-d", str(address), "-j", "DROP")


def replacing_arp_sender(address: Address, own: Address) -> tuple[str, ...]:
    """Return the call that puts another of a node's addresses into the ARP it sends (arptables-legacy(8), mangle)."""
    return ("arptables-legacy", "-A", "OUTPUT", "-s", str(address), "-j", "mangle", "--mangle-ip-s", str(own))


def nginx_configuration(node: str, listen: str, folder: str, answer_bytes: int) -> str:
    """Return a configuration that answers every request with the node's name, padded to `answer_bytes`."""
    body = (node + "\\n").ljust(answer_bytes + 1, ".")
    return f"""worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {listen};
        keepalive_timeout 0;
        return 200 "{body}";
    }}
}}
"""


def ftp_server(python: str, program: str, node: str, port: int) -> ProgramCall:
    """Return the call of lvslab's own FTP server: the interpreter, and the file it is in."""
    return ProgramCall((python, "-I", "-S", program, node, str(port)), port)


def nginx(configuration: str, port: int) -> ProgramCall:
    return ProgramCall(("nginx", "-e", "stderr", "-c", configuration), port)
