"""Reading what `ipvsadm-save -n` printed, or anything else `ipvsadm -R` would add to an empty table."""

from __future__ import annotations

from typing import Final

from lvslab.errors import BadInput
from lvslab.ipvs.model import AddressKey, Destination, Family, Flag, FwmarkKey, Persistence, Service, ServiceKey
from lvslab.ipvs.text.options import Command, parse_command
from lvslab.ipvs.text.values import endpoint_of, flags_of, mark_of, number_of, prefix_of, word_of
from lvslab.ipvs.text.written import LineFaults, WrittenService
from lvslab.topology.model import Method, Protocol, Tunnel, TunnelChecksum, TunnelKind

DEFAULT_SCHEDULER: Final = "wlc"
DEFAULT_PERSISTENCE_S: Final = 360
"""libipvs.h: IPVS_SVC_PERSISTENT_TIMEOUT; ipvsadm(8) says 300."""

_METHODS: Final = {"--masquerading": Method.NAT, "--ipip": Method.TUN, "--gatewaying": Method.DR}
_CHECKSUMS: Final = {
    "--tun-nocsum": TunnelChecksum.NONE,
    "--tun-csum": TunnelChecksum.PRESENT,
    "--tun-remcsum": TunnelChecksum.REMOTE,
}
_LARGEST: Final = 2**31 - 1


def read_saved(text: str, source: str) -> tuple[WrittenService, ...]:
    """Return the services of a saved table, in the order of the text; `source` is what errors call it.

    What a kernel would refuse is read all the same, so that it can be judged with its line; a destination of a
    service given twice goes to the first, as in the kernel. Raises BadInputs for lines ipvsadm could not read, and
    for destinations without a service.
    """
    services: list[WrittenService] = []
    faults = LineFaults(source)
    for line, content in enumerate(text.splitlines(), 1):
        words = content.split()
        if words[:1] == ["ipvsadm"]:
            words = words[1:]
        if not words or words[0].startswith("#"):  # ipvsadm-restore(8) drops such lines
            continue
        try:
            _take(parse_command(words), line, services)
        except BadInput as error:
            faults.add(line, error)
    faults.raise_any()
    return tuple(services)


def _take(command: Command, line: int, services: list[WrittenService]) -> None:
    key = _key(command)
    if command.adds_service:
        services.append(WrittenService(_service(command, key), line))
        return
    for index, written in enumerate(services):
        if written.service.key == key:
            services[index] = written.with_destination(_destination(command, key), line)
            return
    raise BadInput("a server of a service that is not there", expected="its -A line before", found=str(key))


def _key(command: Command) -> ServiceKey:
    if command.has("--fwmark-service"):
        family = Family.IPV6 if command.has("--ipv6") else Family.IPV4
        return FwmarkKey(mark_of(command.text("--fwmark-service")), family)
    if command.has("--ipv6"):
        raise BadInput("-6 without -f", next_step="leave it out: the address says the family")
    for protocol in Protocol:
        name = f"--{protocol}-service"
        if command.has(name):
            address, port = endpoint_of(command.text(name))
            return AddressKey(protocol, address, port or 0)
    raise BadInput("no service", expected="-t, -u, -f or --sctp-service")


def _service(command: Command, key: ServiceKey) -> Service:
    flags = flags_of(command.text("--sched-flags")) if command.has("--sched-flags") else frozenset()
    one_packet = {Flag.ONE_PACKET} if command.has("--ops") else set()
    return Service(
        key=key,
        scheduler=command.text("--scheduler", DEFAULT_SCHEDULER),
        persistence=_persistence(command, key),
        flags=flags | one_packet,
    )


def _persistence(command: Command, key: ServiceKey) -> Persistence | None:
    if not command.has("--persistent"):
        for name in ("--netmask", "--pe"):
            if command.has(name):
                raise BadInput(f"{name} without persistence has no effect", next_step="add -p, or leave it out")
        return None
    timeout = command.text("--persistent", str(DEFAULT_PERSISTENCE_S))
    return Persistence(
        timeout_s=number_of(timeout, "persistence timeout", 0, _LARGEST),
        prefix=prefix_of(command.text("--netmask"), key.family) if command.has("--netmask") else None,
        engine=command.text("--pe") or None,
    )


def _destination(command: Command, key: ServiceKey) -> Destination:
    if not command.has("--real-server"):
        raise BadInput("no server", expected="-r")
    address, port = endpoint_of(command.text("--real-server"))
    if port is None:
        port = key.port if isinstance(key, AddressKey) else 0
    return Destination(
        address=address,
        port=port,
        method=next((method for name, method in _METHODS.items() if command.has(name)), Method.DR),
        weight=number_of(command.text("--weight", "1"), "weight", 0, _LARGEST),
        upper_threshold=number_of(command.text("--u-threshold", "0"), "threshold", 0, _LARGEST),
        lower_threshold=number_of(command.text("--l-threshold", "0"), "threshold", 0, _LARGEST),
        tunnel=_tunnel(command),
    )


def _tunnel(command: Command) -> Tunnel:
    kinds = {kind.value: kind for kind in TunnelKind}
    return Tunnel(
        kind=word_of(kinds, command.text("--tun-type", TunnelKind.IPIP), "tunnel type"),
        port=number_of(command.text("--tun-port", "0"), "tunnel port", 0, 65535),
        checksum=next((sum_ for name, sum_ in _CHECKSUMS.items() if command.has(name)), TunnelChecksum.NONE),
    )
