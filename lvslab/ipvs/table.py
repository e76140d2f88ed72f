"""One namespace's IPVS table, reached through an exchange.

Values are checked before they are sent (BadInput); whatever the kernel refuses raises KernelFault with the operation,
the namespace, the errno in words and the likely cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from lvslab.errors import KernelFault
from lvslab.ipvs import answers, netlink, requests, validate
from lvslab.ipvs.exchange import Exchange, Reply
from lvslab.ipvs.fault import kernel_fault
from lvslab.ipvs.model import (
    Destination,
    Info,
    IntendedService,
    Service,
    ServiceEntry,
    ServiceKey,
    SyncDaemon,
    Timeouts,
)

Value = TypeVar("Value")
Request = tuple[str, str, bytes]
"""Operation in words, kind of its subject, message."""


class IpvsTable:
    """Services and settings of one namespace. Without the ip_vs module the first use raises KernelFault."""

    def __init__(self, exchange: Exchange, namespace: str) -> None:
        self._exchange = exchange
        self._namespace = namespace

    def install(self, intended: Sequence[IntendedService]) -> None:
        """Add services and their destinations in one exchange. After a refusal the rest has been tried all the same."""
        for item in intended:
            validate.check_intended(item)
        self._send([request for item in intended for request in self._installing(item)])

    def add_service(self, service: Service) -> None:
        validate.check_service(service)
        self._send([self._adding_service(service)])

    def set_service(self, service: Service) -> None:
        """Change scheduler, flags and persistence; the scheduler starts afresh only if it is another one."""
        validate.check_service(service)
        message = requests.set_service(self._family_id, service)
        self._send([(f"set service {service.key} to scheduler {service.scheduler}", "service", message)])

    def delete_service(self, key: ServiceKey) -> None:
        """Delete a service and its destinations; its connections stay until they expire."""
        self._send([(f"delete service {key}", "service", requests.delete_service(self._family_id, key))])

    def add_destination(self, service: Service, destination: Destination) -> None:
        validate.check_destination(service, destination)
        self._send([self._adding_destination(service.key, destination)])

    def set_destination(self, service: Service, destination: Destination) -> None:
        """Change method, weight, thresholds and tunnel. Any call restarts the cycle of wrr."""
        validate.check_destination(service, destination)
        message = requests.set_destination(self._family_id, service.key, destination)
        self._send([(f"set destination {destination} of {service.key}", "destination", message)])

    def delete_destination(self, key: ServiceKey, destination: Destination) -> None:
        message = requests.delete_destination(self._family_id, key, destination)
        self._send([(f"delete destination {destination} of {key}", "destination", message)])

    def services(self) -> tuple[ServiceEntry, ...]:
        """Return all services, statistics included, in the order of the kernel's hash table."""
        payloads = self._ask("list services", "service", requests.dump_services(self._family_id))
        return self._with_destinations([answers.service(payload) for payload in payloads])

    def service(self, key: ServiceKey) -> ServiceEntry:
        message = requests.get_service(self._family_id, key)
        entry = self._one(f"get service {key}", "service", message, answers.service)
        return self._with_destinations([entry])[0]

    def flush(self) -> None:
        """Delete all services; connections stay until they expire."""
        self._send([("flush services", "table", requests.flush(self._family_id))])

    def zero(self, key: ServiceKey | None = None) -> None:
        """Zero the counters of one service and its destinations, or of all."""
        what = "all services" if key is None else f"service {key}"
        self._send([(f"zero {what}", "service", requests.zero(self._family_id, key))])

    def timeouts(self) -> Timeouts:
        return self._one("get timeouts", "timeouts", requests.get_timeouts(self._family_id), answers.timeouts)

    def set_timeouts(self, timeouts: Timeouts) -> None:
        """Set the timeouts of this namespace; 0 keeps the present value."""
        validate.check_timeouts(timeouts)
        self._send([("set timeouts", "timeouts", requests.set_timeouts(self._family_id, timeouts))])

    def info(self) -> Info:
        return self._one("get info", "info", requests.get_info(self._family_id), answers.info)

    def daemons(self) -> tuple[SyncDaemon, ...]:
        payloads = self._ask("list sync daemons", "sync daemon", requests.dump_daemons(self._family_id))
        return tuple(answers.daemon(payload) for payload in payloads)

    def start_daemon(self, daemon: SyncDaemon) -> None:
        validate.check_daemon(daemon)
        message = requests.start_daemon(self._family_id, daemon)
        self._send([(f"start sync daemon {daemon.role} on {daemon.interface}", "sync daemon", message)])

    def stop_daemon(self, daemon: SyncDaemon) -> None:
        message = requests.stop_daemon(self._family_id, daemon)
        self._send([(f"stop sync daemon {daemon.role}", "sync daemon", message)])

    @cached_property
    def _family_id(self) -> int:
        reply = self._exchange(self._namespace, [netlink.encode_get_family()])[0]
        if reply.errno:
            raise kernel_fault(self._namespace, "answer", "family", reply.errno)
        return self._only("find the IPVS family", reply.payloads, answers.family_id)

    def _installing(self, intended: IntendedService) -> Iterable[Request]:
        yield self._adding_service(intended.service)
        for destination in intended.destinations:
            yield self._adding_destination(intended.service.key, destination)

    def _adding_service(self, service: Service) -> Request:
        operation = f"add service {service.key} with scheduler {service.scheduler}"
        return operation, "service", requests.add_service(self._family_id, service)

    def _adding_destination(self, key: ServiceKey, destination: Destination) -> Request:
        message = requests.add_destination(self._family_id, key, destination)
        return f"add destination {destination} to {key}", "destination", message

    def _with_destinations(self, entries: Sequence[ServiceEntry]) -> tuple[ServiceEntry, ...]:
        questions = [
            (
                f"list destinations of {entry.service.key}",
                "destination",
                requests.dump_destinations(self._family_id, entry.service.key),
            )
            for entry in entries
        ]
        return tuple(
            replace(entry, destinations=tuple(map(answers.destination, reply.payloads)))
            for entry, reply in zip(entries, self._send(questions), strict=True)
        )

    def _one(self, operation: str, subject: str, message: bytes, decode: Callable[[bytes], Value]) -> Value:
        return self._only(operation, self._ask(operation, subject, message), decode)

    def _only(self, operation: str, payloads: Sequence[bytes], decode: Callable[[bytes], Value]) -> Value:
        if len(payloads) != 1:
            raise KernelFault(
                f"cannot {operation}", where=self._namespace, expected="1 answer", found=f"{len(payloads)}"
            )
        return decode(payloads[0])

    def _ask(self, operation: str, subject: str, message: bytes) -> tuple[bytes, ...]:
        return self._send([(operation, subject, message)])[0].payloads

    def _send(self, requests: Sequence[Request]) -> list[Reply]:
        if not requests:
            return []
        replies = self._exchange(self._namespace, [message for _, _, message in requests])
        for (operation, subject, _), reply in zip(requests, replies, strict=True):
            if reply.errno:
                raise kernel_fault(self._namespace, operation, subject, reply.errno)
        return replies
