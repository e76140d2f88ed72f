"""The broker: one process per lab that holds the kernel, and with it everything the lab is.

It starts the kernel, relays frames between the client's socket and the line to the agent, and ends the
kernel and removes the lab's folder when the client goes away, however that happens. It runs on the standard
library alone: ``python3 -I -S broker.py JSON``.
"""

import json
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from lvslab.agent.syscalls import become_subreaper, die_with_parent, name_process, refuse_random_numbers
from lvslab.agent.wire import Kind, WireFrame
from lvslab.kernels.calendar import BUSY, Calendar
from lvslab.kernels.folder import KERNEL_LOG, SOCKET, SOCKET_AHEAD, read_journal, remove_lab, write_journal
from lvslab.kernels.relay import KERNEL_ENDED, Relay

SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
WAKEUP_BYTES = 64
KERNEL_LINE = 3
"""The kernel's descriptor of the line to its agent: the same in every lab."""
LOG_TAIL_BYTES = 1 << 14
PANIC = "Kernel panic"
AGENT_ENDED = "Attempted to kill init"
FAREWELL_TIMEOUT_S = 1.0
ENDING_POLL_S = 0.01
ENDING_POLLS = 100
BUS_ERROR = f"Kernel mode signal {int(signal.SIGBUS)}"
"""From arch/um/kernel/trap.c: relay_signal."""
CANNOT_EXECUTE = 127


@dataclass(frozen=True, slots=True)
class Orders:
    """What the broker is to hold: descriptors, the kernel's program, and the window of its line in bytes."""

    folder: str
    lock: int
    client: int
    line: int
    kernel_line: int
    argv: list[str]
    environment: dict[str, str]
    window_bytes: int
    virtual_time: bool
    """The kernel will ask for its time."""
    alarm_s: float | None
    """How often the kernel is sent SIGALRM once its agent is up: see :data:`lvslab.kernels.uml.ALARM_S`."""

    @classmethod
    def from_json(cls, text: str) -> "Orders":
        return cls(**json.loads(text))

    def descriptors(self) -> tuple[int, ...]:
        return self.lock, self.client, self.line, self.kernel_line


class Broker:
    """Holds the kernel until it or the client is gone."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._folder = Path(orders.folder)
        client, line = socket.socket(fileno=orders.client), socket.socket(fileno=orders.line)
        self._calendar = Calendar(self._folder) if orders.virtual_time else None
        self._relay = Relay(client, line, orders.window_bytes, self._calendar)
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        """Where further clients knock."""
        self._is_open = False
        """Whether the door is where clients look for it, because the lab stays."""
        self._kernel = 0
        self._next_alarm = math.inf
        self._status: int | None = None
        """The kernel's wait status, once it has ended."""
        self._told = ""
        """Why the broker stops of its own accord: a signal, or a fault."""

    def run(self) -> None:
        try:
            self._watch_signals()
            self._make_door()
            self._start_kernel()
            while not self._reason():
                self._wait()
        except Exception as error:  # noqa: BLE001 - the client must hear of it
            self._told = f"the broker failed ({type(error).__name__}: {error})"
        finally:
            self._end_kernel()
            farewell = self._gone()
            remove_lab(self._folder)
            self._relay.farewell(farewell, FAREWELL_TIMEOUT_S)

    def _reason(self) -> str:
        """Return why the lab is over, or an empty string while it is not."""
        if self._relay.ended:
            return self._relay.ended
        return self._told or (KERNEL_ENDED if self._status is not None else "")

    def _watch_signals(self) -> None:
        """Have every signal arrive as a byte on a socket that poll(2) watches."""
        self._wakeup, self._signalled = socket.socketpair()
        for end in (self._wakeup, self._signalled):
            end.setblocking(False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._signalled.fileno(), warn_on_full_buffer=False)

    def _start_kernel(self) -> None:
        become_subreaper()
        journal = read_journal(self._folder) | {"program": str(Path(self._orders.argv[0]).resolve())}
        broker = os.getpid()
        waiting, go = os.pipe()
        self._kernel = os.fork()
        if self._kernel == 0:
            try:
                os.close(go)
                if os.read(waiting, 1):
                    self._become_kernel(broker)
            finally:
                os._exit(CANNOT_EXECUTE)
        os.close(waiting)
        os.close(self._orders.kernel_line)
        # Found again after a crash only if the journal knows it before it begins.
        write_journal(self._folder, journal | {"group": self._kernel})
        os.write(go, b"\n")
        os.close(go)

    def _become_kernel(self, broker: int) -> None:
        """Execute the kernel in a session of its own, with no descriptor of ours but its line."""
        os.setsid()
        die_with_parent(signal.SIGKILL)
        if os.getppid() != broker:
            return
        nothing = os.open(os.devnull, os.O_RDONLY)
        log = os.open(self._folder / KERNEL_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for target, fd in ((0, nothing), (1, log), (2, log)):
            os.dup2(fd, target)
        os.dup2(self._orders.kernel_line, KERNEL_LINE)
        os.set_inheritable(KERNEL_LINE, True)
        # A panic would otherwise leave an image of the guest's whole memory.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(self._folder)
        if self._orders.virtual_time:
            # What it computes is to repeat exactly, so it may have no random numbers of the machine's.
            refuse_random_numbers()
        try:
            os.execve(self._orders.argv[0], self._orders.argv, self._orders.environment)  # noqa: S606
        except OSError as error:
            os.write(2, f"{self._orders.argv[0]}: {error.strerror}".encode())

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._wakeup, select.POLLIN)
        poll.register(self._door, select.POLLIN)
        if self._relay.stays and not self._is_open:
            Path(SOCKET_AHEAD).rename(SOCKET)
            self._is_open = True
        for descriptor, events in self._relay.interest().items():
            poll.register(descriptor, events)
        if self._calendar is not None and self._calendar.descriptor is not None:
            poll.register(self._calendar.descriptor, select.POLLIN)
        ready = poll.poll(self._timeout_ms())
        for descriptor, events in ready:
            if descriptor == self._wakeup.fileno():
                self._take_signals()
            elif self._calendar is not None and descriptor == self._calendar.descriptor:
                self._calendar.receive()
            elif descriptor == self._door.fileno():
                self._let_in()
            else:
                self._relay.advance(descriptor, events)
        if self._calendar is not None:
            self._keep_time(self._calendar, nothing_came=not ready)
        if self._orders.alarm_s is not None:
            self._wind_up(self._orders.alarm_s)

    def _timeout_ms(self) -> float | None:
        timeout_s = self._calendar.timeout_s() if self._calendar is not None else None
        if timeout_s is None and self._next_alarm < math.inf:
            timeout_s = max(0.0, self._next_alarm - time.monotonic())
        return None if timeout_s is None else math.ceil(timeout_s * 1000)

    def _wind_up(self, alarm_s: float) -> None:
        """Send the kernel an alarm when it is time for one. Before its agent is up it might die of it."""
        now = time.monotonic()
        if self._next_alarm == math.inf:
            self._next_alarm = now + alarm_s if self._relay.is_up else math.inf
        elif now >= self._next_alarm and self._status is None:
            os.kill(self._kernel, signal.SIGALRM)
            self._next_alarm = now + alarm_s

    def _keep_time(self, calendar: Calendar, *, nothing_came: bool) -> None:
        if nothing_came:
            calendar.nothing_came()
        if calendar.stuck:
            self._told = BUSY
        if not calendar.waiting:
            return
        # What the agent said before its kernel came to rest counts first; then what it is still to be told.
        self._relay.exchange_with_kernel()
        calendar.set_flow(self._relay.flow)
        calendar.advance(has_input=self._relay.under_way)

    def _make_door(self) -> None:
        """Listen in the lab's folder, which only its owner may enter (unix(7): a short name, so a relative one)."""
        os.chdir(self._folder)
        self._door.bind(SOCKET_AHEAD)
        self._door.listen()

    def _let_in(self) -> None:
        with suppress(OSError):
            self._relay.add_client(self._door.accept()[0])

    def _take_signals(self) -> None:
        for number in self._wakeup.recv(WAKEUP_BYTES):
            if number != signal.SIGCHLD:
                self._told = f"the broker was told to stop ({signal.Signals(number).name})"
        self._reap()

    def _reap(self) -> None:
        """Collect what has ended: the kernel's helpers become the broker's children when they lose their parent."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._kernel:
                    self._status = ended[1]

    def _end_kernel(self) -> None:
        """Kill the kernel's process group; a kernel that is ending by itself gets the time to do so."""
        if self._reason() == KERNEL_ENDED:
            for _ in range(ENDING_POLLS):
                self._reap()
                if self._status is not None:
                    break
                time.sleep(ENDING_POLL_S)
        if self._kernel and self._status is None:
            with suppress(ProcessLookupError):
                os.killpg(self._kernel, signal.SIGKILL)
            # It leads no group yet if it has only just been forked.
            os.kill(self._kernel, signal.SIGKILL)
            self._status = os.waitpid(self._kernel, 0)[1]

    def _gone(self) -> bytes:
        """Return the frame that tells the client why the lab is over, with the kernel's last words."""
        reason, tail = self._reason(), ""
        if reason == KERNEL_ENDED and self._status is not None:
            reason += f" ({_in_words(self._status)})"
            log = self._folder / KERNEL_LOG
            tail = log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace") if log.exists() else ""
        said = {"reason": reason, "last_words": last_words(tail)}
        return WireFrame(Kind.GONE, 0, json.dumps(said).encode()).encode()


def last_words(log: str) -> str:
    """Return the line of a kernel's log that tells most about its end.

    That is the panic's first line, or what came before it if the panic only says that the agent has ended. A kernel
    that got SIGBUS has no more room in the file that is its memory (mmap(2)).
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.endswith(BUS_ERROR):
            return f"{line} (the file system that holds the guest's memory is full: /dev/shm, or TMPDIR)"
        if PANIC in line:
            return lines[number - 1] if AGENT_ENDED in line and number else line
    return lines[-1] if lines else ""


def _in_words(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def close_all_but(kept: tuple[int, ...]) -> None:
    """Close what was inherited by accident, and let nothing that is kept pass on to the kernel."""
    for descriptor in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if descriptor in kept:
            os.set_inheritable(descriptor, False)
        elif descriptor > 2:
            with suppress(OSError):
                os.close(descriptor)


def main() -> None:
    name_process("lvslab-broker")
    orders = Orders.from_json(sys.argv[1])
    close_all_but(orders.descriptors())
    Broker(orders).run()


if __name__ == "__main__":
    main()
