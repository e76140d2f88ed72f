"""The table over an exchange: what it sends, what it makes of answers and refusals."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_address

import pytest

from lvslab.errors import BadInput, KernelFault
from lvslab.ipvs import requests
from lvslab.ipvs.compare import compare
from lvslab.ipvs.exchange import Reply
from lvslab.ipvs.model import SyncDaemon, SyncRole, Timeouts
from lvslab.ipvs.table import IpvsTable
from lvslab.topology.model import Method
from tests.unit.ipvs.support import CONTROLLER, TABLE, WEB, WEB_SERVERS, RecordedKernel

FAMILY = 28
NEW_SERVICE, SET_SERVICE, DEL_SERVICE, GET_SERVICE = 1, 2, 3, 4
NEW_DEST, SET_DEST, DEL_DEST, GET_DEST = 5, 6, 7, 8
NEW_DAEMON, DEL_DAEMON, SET_CONFIG, ZERO, FLUSH = 9, 10, 12, 16, 17
MASTER = SyncDaemon(SyncRole.MASTER, "eth0")


def test_install_adds_services_and_destinations_in_the_order_given() -> None:
    kernel = RecordedKernel()
    IpvsTable(kernel, "director").install(TABLE[:2])
    expected = [
        requests.add_service(FAMILY, WEB),
        *(requests.add_destination(FAMILY, WEB.key, each) for each in WEB_SERVERS),
        requests.add_service(FAMILY, TABLE[1].service),
        requests.add_destination(FAMILY, TABLE[1].service.key, TABLE[1].destinations[0]),
    ]
    assert kernel.sent[1:] == [("director", message) for message in expected]


def test_the_family_is_looked_up_once() -> None:
    kernel = RecordedKernel()
    table = IpvsTable(kernel, "director")
    table.flush()
    table.zero()
    assert kernel.commands == [FLUSH, ZERO]
    assert len(kernel.sent) == 3


def test_what_was_installed_compares_equal_with_what_a_real_kernel_listed() -> None:
    assert compare(TABLE, IpvsTable(RecordedKernel(), "director").services()) == []


def test_one_service_is_read_with_its_destinations() -> None:
    entry = IpvsTable(RecordedKernel(), "director").service(WEB.key)
    assert entry.service == WEB
    assert [each.destination for each in entry.destinations] == list(reversed(WEB_SERVERS))


def test_settings_are_read() -> None:
    table = IpvsTable(RecordedKernel(), "director")
    assert table.timeouts() == Timeouts(900, 120, 300)
    assert table.info().version == (1, 2, 1)
    assert [daemon.role for daemon in table.daemons()] == [SyncRole.MASTER, SyncRole.BACKUP]


@pytest.mark.parametrize(
    ("act", "command", "code", "parts"),
    [
        (
            lambda table: table.add_service(WEB),
            NEW_SERVICE,
            errno.ENOENT,
            ("add service TCP 192.0.2.100:80 with scheduler wrr", "ENOENT", "lacks that scheduler"),
        ),
        (lambda table: table.add_service(WEB), NEW_SERVICE, errno.EEXIST, ("EEXIST", "exists already")),
        (lambda table: table.add_service(WEB), NEW_SERVICE, errno.EPERM, ("EPERM", "initial user namespace")),
        (lambda table: table.set_service(WEB), SET_SERVICE, errno.ESRCH, ("set service", "ESRCH", "no such service")),
        (lambda table: table.delete_service(WEB.key), DEL_SERVICE, errno.ESRCH, ("delete service", "no such service")),
        (lambda table: table.service(WEB.key), GET_SERVICE, errno.ESRCH, ("get service", "no such service")),
        (
            lambda table: table.add_destination(WEB, WEB_SERVERS[0]),
            NEW_DEST,
            errno.EINVAL,
            ("add destination 198.51.100.11:8080 to TCP 192.0.2.100:80", "EINVAL", "not unicast"),
        ),
        (
            lambda table: table.set_destination(WEB, WEB_SERVERS[0]),
            SET_DEST,
            errno.ENOENT,
            ("set destination", "ENOENT", "no such destination"),
        ),
        (
            lambda table: table.delete_destination(WEB.key, WEB_SERVERS[0]),
            DEL_DEST,
            errno.ENOENT,
            ("delete destination", "no such destination"),
        ),
        (lambda table: table.services(), GET_DEST, errno.EIO, ("list destinations of TCP", "EIO")),
        (lambda table: table.start_daemon(MASTER), NEW_DAEMON, errno.ENODEV, ("master on eth0", "no such interface")),
        (lambda table: table.stop_daemon(MASTER), DEL_DAEMON, errno.ESRCH, ("no daemon of this role",)),
        (lambda table: table.set_timeouts(Timeouts(1, 1, 1)), SET_CONFIG, errno.EINVAL, ("set timeouts", "EINVAL")),
        (lambda table: table.flush(), FLUSH, errno.EOPNOTSUPP, ("flush services", "does not know the command")),
        (lambda table: table.flush(), CONTROLLER, errno.ENOENT, ("ENOENT", "ip_vs module is not loaded")),
        (lambda table: table.flush(), FLUSH, 5000, ("5000",)),
    ],
)
def test_a_refusal_names_namespace_operation_errno_and_cause(
    act: Callable[[IpvsTable], object], command: int, code: int, parts: tuple[str, ...]
) -> None:
    table = IpvsTable(RecordedKernel({command: code}), "director-7")
    with pytest.raises(KernelFault) as caught:
        act(table)
    for part in ("director-7: IPVS would not", *parts):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda table: table.install([replace(TABLE[0], destinations=WEB_SERVERS * 2)]),
        lambda table: table.add_service(replace(WEB, scheduler="fastest")),
        lambda table: table.set_service(replace(WEB, scheduler="fastest")),
        lambda table: table.add_destination(WEB, replace(WEB_SERVERS[0], method=Method.DR)),
        lambda table: table.set_destination(WEB, replace(WEB_SERVERS[0], weight=-1)),
        lambda table: table.set_timeouts(Timeouts(-1, 0, 0)),
        lambda table: table.start_daemon(replace(MASTER, group=ip_address("192.0.2.1"))),
    ],
)
def test_bad_values_never_reach_the_kernel(act: Callable[[IpvsTable], object]) -> None:
    kernel = RecordedKernel()
    with pytest.raises(BadInput):
        act(IpvsTable(kernel, "director"))
    assert kernel.sent == []


def test_an_answer_where_one_was_due_is_missed() -> None:
    class Mute(RecordedKernel):
        def __call__(self, namespace: str, messages: Sequence[bytes]) -> list[Reply]:
            return [replace(reply, payloads=reply.payloads[:0]) for reply in super().__call__(namespace, messages)]

    with pytest.raises(KernelFault, match="expected 1 answer, found 0"):
        IpvsTable(Mute(), "director").info()


def test_the_package_and_its_models_do_without_pyroute2() -> None:
    modules = ["model", "validate", "compare", "intent", "proc", "exchange", "schedulers"]
    program = f"import sys, lvslab.ipvs, {', '.join('lvslab.ipvs.' + name for name in modules)}\n"
    program += "sys.exit('pyroute2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
