"""A Mininet network that stays: runs inside the lab's kernel and does what it is asked over a Unix socket.

``python -I server.py SOCKET``. Each connection brings one request and takes its answer, a line of JSON each:
``do`` names one of the methods of `Network` without their `do_`, the rest are its arguments. A request for Mininet's
command line brings the three descriptors of a terminal with it (see :mod:`lvslab.mininet.command_line`).

Mininet makes the nodes, switches and cables. Addresses, routes, sysctls and IPVS are lvslab's, the same on every
backend; Mininet is told the addresses, for ``client ping rs1``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

# distutils, which Mininet imports, is deprecated in Python 3.11.
warnings.simplefilter("ignore", DeprecationWarning)

from mininet.cli import CLI  # noqa: E402
from mininet.log import lg  # noqa: E402
from mininet.net import Mininet  # noqa: E402
from mininet.node import Node, Switch  # noqa: E402

DESCRIPTORS = 1024
"""Two for each node. mnexec closes so many one by one, each time."""
REQUEST_BYTES = 1 << 20
STREAMS = 3


class Bridge(Switch):  # type: ignore[misc]
    """A Linux bridge in a namespace of its own; Mininet's own LinuxBridge takes only ports that are named after it."""

    controlIntf = None  # noqa: N815 - Mininet's name: it asks for one, and a switch in a namespace has none

    @classmethod
    def setup(cls) -> None:
        """Ask for none of the programs that Mininet's switches need."""

    @property
    def device(self) -> str:
        return str(self.params["bridge"])

    def make(self) -> None:
        """Make the bridge: before its ports, as interface numbers tell."""
        _run(self, f"ip link add {self.device} type bridge forward_delay 0 stp_state 0 mcast_snooping 0")

    def start(self, _controllers: Sequence[object]) -> None:
        _run(self, f"ip link set {self.device} up")
        for interface in self.intfList():
            _run(self, f"ip link set {interface} master {self.device} up")

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        _run(self, f"ip link set {self.device} down")
        super().stop(deleteIntfs)


class OpenVSwitch(Bridge):
    """Open vSwitch without a controller; its daemons run in the switch's namespace, where they make its datapath."""

    @property
    def folder(self) -> str:
        return f"/run/lvslab/ovs-{self.name}"

    def make(self) -> None:
        database = f"{self.folder}/db.sock"
        _run(self, f"rm -rf {self.folder} && mkdir -p {self.folder} && ovsdb-tool create {self.folder}/conf.db")
        _run(self, f"ovsdb-server {self.folder}/conf.db --remote=punix:{database} {self._detached('ovsdb')}")
        _run(self, f"ovs-vsctl --db=unix:{database} --no-wait init")
        _run(self, f"ovs-vswitchd unix:{database} {self._detached('vswitchd')}")
        _run(self, f"ovs-vsctl --db=unix:{database} add-br {self.device} -- set-fail-mode {self.device} standalone")

    def start(self, _controllers: Sequence[object]) -> None:
        _run(self, f"ip link set {self.device} up")
        for interface in self.intfList():
            _run(self, f"ip link set {interface} up")
            _run(self, f"ovs-vsctl --db=unix:{self.folder}/db.sock --may-exist add-port {self.device} {interface}")

    def terminate(self) -> None:
        # They would keep the namespace.
        self.cmd(f"kill $(cat {self.folder}/*.pid)")
        super().terminate()

    def _detached(self, daemon: str) -> str:
        files = f"--pidfile={self.folder}/{daemon}.pid --unixctl={self.folder}/{daemon}.ctl"
        return f"-vconsole:off {files} --log-file={self.folder}/{daemon}.log --detach --no-chdir"


SWITCHES = {"bridge": Bridge, "ovs": OpenVSwitch}


class LabCommandLine(CLI):  # type: ignore[misc]
    """Mininet's own, for nodes whose names have hyphens too."""

    identchars = CLI.identchars + "-"


class Network:
    """The network, and what may be asked of it."""

    def __init__(self) -> None:
        # Else it would raise limits of the whole machine (mininet.util.fixLimits), some of them for good.
        Mininet.inited = True
        self._net = Mininet(controller=None, switch=Bridge, build=False)

    def do_add_nodes(self, hosts: Sequence[str], switches: Sequence[str], kind: str, bridge: str) -> dict[str, object]:
        """Make nodes; return the process in each one's namespace.

        `kind` is one of SWITCHES, `bridge` the device of a switch.
        """
        for number, name in enumerate(switches, 1):
            self._net.addSwitch(name, cls=SWITCHES[kind], inNamespace=True, bridge=bridge, dpid=f"{number:x}")
        for name in hosts:
            self._net.addHost(name, ip=None)
        return {"pids": {name: self._net[name].pid for name in (*switches, *hosts)}}

    def do_add_links(
        self, links: Sequence[Mapping[str, str]], addresses: Mapping[str, Mapping[str, str]]
    ) -> dict[str, object]:
        """Make cables, and start the switches; `addresses` are those that nodes will have, by node and interface."""
        for switch in self._net.switches:
            switch.make()
        for link in links:
            self._net.addLink(
                link["node"],
                link["switch"],
                intfName1=link["interface"],
                intfName2=link["port"],
                addr1=link["mac"],
                # Mininet would set both ends up at once.
                up=None,
            )
        for name, of_node in addresses.items():
            for interface, address in of_node.items():
                known = self._net[name].nameToIntf[interface]
                known.ip, known.prefixLen = address.split("/")
        self._net.built = True
        self._net.start()
        return {}

    def do_stop(self) -> dict[str, object]:
        """End the shells; the namespaces go with the last that is in them, and with them all devices."""
        for node in self._net.values():
            node.terminate()
        return {}

    def do_command_line(self, streams: Sequence[int]) -> dict[str, object]:
        # Whoever hangs up interrupts what runs, whatever it is, and leaves nothing to write to.
        with _standard_streams(streams), suppress(KeyboardInterrupt, OSError), _interruptible():
            LabCommandLine(self._net, stdin=sys.stdin)
        return {}


def _run(node: Node, command: str) -> None:
    said = node.cmd(command).strip()
    if said:
        raise RuntimeError(f"{node.name}: {command}: {said}")


@contextmanager
def _standard_streams(streams: Sequence[int]) -> Iterator[None]:
    """Put a terminal in the place of standard input, output and error."""
    own = [os.dup(stream) for stream in range(STREAMS)]
    before = sys.stdin, sys.stdout
    for stream, fd in enumerate(streams):
        os.dup2(fd, stream)
    # New ones: a stream remembers that it has come to its end.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    # Mininet would write all that it shows to standard error.
    _log_to(sys.stdout)
    try:
        yield
    finally:
        _log_to(sys.stderr)
        with suppress(OSError):
            sys.stdout.flush()
        sys.stdin, sys.stdout = before
        for stream, fd in enumerate(own):
            os.dup2(fd, stream)
        for fd in (*own, *streams):
            os.close(fd)


def _log_to(stream: TextIO) -> None:
    for handler in lg.handlers:
        # What was there before may be a terminal that is gone.
        with suppress(OSError):
            handler.flush()
        handler.stream = stream


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C reach the command line, and never end the network."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(network: Network, connection: socket.socket) -> None:
    data, streams, _, _ = socket.recv_fds(connection, REQUEST_BYTES, STREAMS)
    while not data.endswith(b"\n"):
        data += connection.recv(REQUEST_BYTES)
    request = json.loads(data)
    if streams:
        request["streams"] = streams
    try:
        answer = getattr(network, "do_" + request.pop("do"))(**request)
    except Exception as error:  # noqa: BLE001 - whoever asked is told, and the log has the rest
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"}
    with suppress(ConnectionError):
        connection.sendall(json.dumps(answer).encode() + b"\n")


def main(path: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    network = Network()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # A network that was built and taken down before leaves its socket.
    Path(path).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection: Any
            connection, _ = listener.accept()
            with connection:
                _answer(network, connection)


if __name__ == "__main__":
    main(sys.argv[1])
