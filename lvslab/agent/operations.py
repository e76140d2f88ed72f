"""What the host may ask of the agent: one method per operation, named as in the request's `op` field."""

from __future__ import annotations

import errno
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import groupby, islice
from operator import itemgetter

from lvslab.agent import clients, files, modules, name_server, offload, processes, sctp, servers, syscalls
from lvslab.agent.channel_group import ChannelGroup
from lvslab.agent.live import LiveCaptures
from lvslab.agent.machines import Machines
from lvslab.agent.namespaces import Namespaces
from lvslab.agent.netlink import NetlinkPort
from lvslab.agent.question import Question
from lvslab.agent.ring import RETIRE_MS, Recorder
from lvslab.agent.sessions import SendOn, Sessions
from lvslab.agent.watch import Watch
from lvslab.agent.wire import CLIENT_SHIFT, Flow, Kind, Message, WireFrame

Answer = Callable[[Message], None]
Timer = tuple[float, Callable[[], bool]]
"""When an action is due, and the action."""
POLL_S = 0.02
HANG_UP_PATIENCE_S = 1.0
"""What a program whose terminal is gone has to put its things away."""
LONGEST_WAIT_S = 86400.0
"""epoll_wait(2) counts milliseconds in an int, which holds 24 days."""
QUIET_ROUNDS = 2
QUIET_TIMEOUT_S = 5.0
"""A recording of traffic that never stops ends after so long."""


class Operations:
    """The state of one lab inside the kernel, and the operations on it."""

    def __init__(self, selector: selectors.BaseSelector, send: SendOn) -> None:
        self._selector = selector
        self._namespaces = Namespaces()
        self._machines = Machines(self._namespaces)
        self._sessions = Sessions(selector, send, self._machines)
        self._live = LiveCaptures(selector, send, self._namespaces, self._repeat)
        self._netlink = NetlinkPort(self._namespaces)
        self._recorder: Recorder | None = None
        self._asking = 0
        """The client whose request is being carried out."""
        self._recorded_for = 0
        """The client that wants the recording."""
        self._called_for: dict[clients.Worker, int] = {}
        """The client that waits for each worker's calls."""
        self._watched_for: dict[Watch, int] = {}
        """The client that wants each watch."""
        self._children: dict[int, Callable[[int], None]] = {}
        """What to do with the exit status of each process when it ends."""
        self._servers: dict[int, ChannelGroup] = {}
        self._next_group = 0
        self._idle_clients: list[clients.Worker] = []
        self._timers: list[Timer] = []
        self._sleeping: dict[Timer, int] = {}
        """The client that waits for each sleep's end."""
        self._unanswered = 0

    def expect_answer(self, answer: Answer) -> Answer:
        """Return `answer`, to be called once; until then somebody waits."""
        self._unanswered += 1

        def answered(message: Message) -> None:
            self._unanswered -= 1
            answer(message)

        return answered

    def flow(self) -> Flow:
        """Return how time is to flow where it is virtual, for those who wait."""
        if self._unanswered or self._timers or self._sessions.programs_running:
            return Flow.FREE
        return Flow.PACED if self._sessions.terminals_open or self._live.any_open else Flow.STAND

    def handle(self, request: Message, channel: int, answer: Answer) -> None:
        """Carry out one request that came on `channel`; the answer may come later."""
        if request.fields.get("op") == "open_session":
            pid, ended = self._sessions.open(channel, request.fields)
            self._children[pid] = ended
            answer(Message({"pid": pid}))
            return
        if request.fields.get("op") == "open_live_capture":
            self._live.open(channel, request.fields)
            answer(Message({}))
            return
        operation = getattr(self, "do_" + str(request.fields.get("op")), None)
        if operation is None:
            answer(Message({"error": {"errno": 0, "text": f"the agent has no operation {request.fields.get('op')}"}}))
            return
        self._asking = channel >> CLIENT_SHIFT
        operation(request, answer)

    def take(self, frame: WireFrame) -> None:
        """Take a frame that is no part of a message: a session's, a live capture's, or the end of a client."""
        if frame.kind is not Kind.HANG_UP:
            if not self._live.take(frame):
                self._sessions.take(frame)
            return
        client = frame.channel >> CLIENT_SHIFT
        self._live.hang_up(client)
        self._give_up_work(client)

        def end() -> bool:
            self._sessions.hang_up(client, signal.SIGKILL)
            return True

        if self._sessions.hang_up(client, signal.SIGHUP):
            self._repeat(HANG_UP_PATIENCE_S, end)

    def do_make_machines(self, request: Message, answer: Answer) -> None:
        """Give nodes a hostname and files of their own, by node: path and contents."""
        for name, contents in request.fields["machines"].items():
            self._machines.make(name, contents)
        answer(Message({}))

    def do_make_namespaces(self, request: Message, answer: Answer) -> None:
        answer(Message({"fds": {name: self._namespaces.make(name) for name in request.fields["names"]}}))

    def do_adopt_namespaces(self, request: Message, answer: Answer) -> None:
        """Hold the namespaces of running processes as if they had been made here, by name: process."""
        pids = request.fields["pids"]
        answer(Message({"fds": {name: self._namespaces.adopt(name, pid) for name, pid in pids.items()}}))

    def do_remove_namespaces(self, request: Message, answer: Answer) -> None:
        """Remove those there are, in order: after a failure the host cannot know how far it got."""
        there = frozenset(self._namespaces.names())
        for name in filter(there.__contains__, request.fields["names"]):
            self._netlink.close(name)
            self._machines.remove(name)
            self._namespaces.remove(name)
        answer(Message({}))

    def do_netlink(self, request: Message, answer: Answer) -> None:
        """Send messages one by one; stop at the first refusal unless `keep_going`."""
        errnos: list[int] = []
        counts: list[int] = []
        payloads: list[bytes] = []
        targets = request.fields["targets"]
        for (namespace, protocol), message in zip(targets, request.blobs, strict=True):
            code, answers = self._netlink.request(namespace, protocol, message)
            errnos.append(code)
            counts.append(len(answers))
            payloads += answers
            if code and not request.fields["keep_going"]:
                break
        answer(Message({"errnos": errnos, "counts": counts}, tuple(payloads)))

    def do_change(self, request: Message, answer: Answer) -> None:
        """Send route messages that only change something, `counts` of them to each of `namespaces`, in order.

        Answer with the errnos of those that went, up to the first that was refused; what went with it may have
        been carried out.
        """
        errnos: list[int] = []
        left = iter(request.blobs)
        for namespace, count in zip(request.fields["namespaces"], request.fields["counts"], strict=True):
            errnos += self._netlink.change(namespace, socket.NETLINK_ROUTE, list(islice(left, count)))
            refused = next((place for place, code in enumerate(errnos) if code), None)
            if refused is not None:
                del errnos[refused + 1 :]
                break
        answer(Message({"errnos": errnos}))

    def do_write_sysctls(self, request: Message, answer: Answer) -> None:
        """Write in order; answer with what the kernel then says each is, up to the first it refuses."""
        values: list[str] = []
        code = 0
        try:
            for node, entries in groupby(request.fields["entries"], key=itemgetter(0)):
                with self._namespaces.inside(node):
                    for _, key, value in entries:
                        values.append(files.write_sysctl(key, value))
        except OSError as error:
            code = error.errno or errno.EIO
        answer(Message({"values": values, "errno": code}))

    def do_read_sysctls(self, request: Message, answer: Answer) -> None:
        values = [files.read_sysctl(self._namespaces, *entry) for entry in request.fields["entries"]]
        answer(Message({"values": values}))

    def do_read_files(self, request: Message, answer: Answer) -> None:
        contents = [files.read_file(self._namespaces, node, path) for node, path in request.fields["files"]]
        answer(Message({}, tuple(contents)))

    def do_load_modules(self, request: Message, answer: Answer) -> None:
        answer(Message({"missing": modules.load_modules(request.fields["names"])}))

    def do_lacking_for_sctp(self, request: Message, answer: Answer) -> None:
        answer(Message({"lacking": sctp.lacking(tracked=request.fields["tracked"])}))

    def do_receive_offload_off(self, request: Message, answer: Answer) -> None:
        for node, interface in request.fields["interfaces"]:
            offload.receive_offload_off(self._namespaces, node, interface)
        answer(Message({}))

    def do_transmit_checksum_off(self, request: Message, answer: Answer) -> None:
        for node, interface in request.fields["interfaces"]:
            offload.transmit_checksum_off(self._namespaces, node, interface)
        answer(Message({}))

    def do_start_capture(self, request: Message, answer: Answer) -> None:
        if self._recorder is not None:
            raise OSError(errno.EBUSY, "a capture is already running")
        recorder = Recorder(self._namespaces, request.fields["path"], request.fields["rings"])
        for ring in recorder.rings:
            self._selector.register(ring.socket, selectors.EVENT_READ, partial(recorder.drain_ring, ring))
        self._recorder, self._recorded_for = recorder, self._asking
        answer(Message({}))

    def _give_up_work(self, client: int) -> None:
        """Break off what a client that is gone has begun: its recording, and the calls it waited for."""
        recorder = self._recorder
        if recorder is not None and self._recorded_for == client:
            self._recorder = None
            self._close_recorder(recorder)
            recorder.remove()
        for worker, waiting in self._called_for.items():
            if waiting == client:
                worker.kill()
        for watch in [watch for watch, waiting in self._watched_for.items() if waiting == client]:
            del self._watched_for[watch]
        for timer in [timer for timer, waiting in self._sleeping.items() if waiting == client]:
            self._forget(timer)
            timer[1]()

    def _close_recorder(self, recorder: Recorder) -> None:
        for ring in recorder.rings:
            self._selector.unregister(ring.socket)
        recorder.close()

    def do_stop_capture(self, _request: Message, answer: Answer) -> None:
        """Wait until the rings are quiet, then say what was lost, by node."""
        recorder = self._recorder
        if recorder is None:
            raise OSError(errno.ENOENT, "no capture is running")
        self._recorder = None
        quiet = 0
        deadline = time.monotonic() + QUIET_TIMEOUT_S

        def finish() -> bool:
            nonlocal quiet
            quiet = 0 if recorder.drain() else quiet + 1
            if quiet < QUIET_ROUNDS and time.monotonic() < deadline:
                return False
            losses = {ring.node: ring.loss() for ring in recorder.rings}
            self._close_recorder(recorder)
            if recorder.failure is not None:
                failure = recorder.failure
                answer(Message({"error": {"errno": failure.errno, "text": f"the spool file: {failure.strerror}"}}))
                return True
            dropped = {node: loss.dropped for node, loss in losses.items()}
            recorded = {node: loss.recorded for node, loss in losses.items()}
            answer(Message({"dropped": dropped, "recorded": recorded}))
            return True

        self._repeat(RETIRE_MS / 1000 + POLL_S, finish)

    def do_start_servers(self, request: Message, answer: Answer) -> None:
        listeners = [servers.Listener.from_fields(fields) for fields in request.fields["listeners"]]
        opened = servers.open_listeners(self._namespaces, listeners)
        self._add_group(servers.ServerGroup(self._selector, opened), answer)

    def do_start_name_server(self, request: Message, answer: Answer) -> None:
        """Serve one name; the blobs are the question and its records, as bytes on the wire."""
        question, *records = request.blobs
        name = name_server.RoundRobinName(question, records)
        fields = request.fields
        group = name_server.NameServer(self._selector, self._namespaces, fields["node"], fields["address"], name)
        self._add_group(group, answer)

    def _add_group(self, group: ChannelGroup, answer: Answer) -> None:
        self._next_group += 1
        self._servers[self._next_group] = group
        answer(Message({"group": self._next_group}))

    def do_stop_servers(self, request: Message, answer: Answer) -> None:
        self._servers.pop(request.fields["group"]).close()
        answer(Message({}))

    def add_client(self) -> None:
        """Have a test client ready before it is asked for."""
        self._idle_clients.append(clients.Worker())

    def do_call(self, request: Message, answer: Answer) -> None:
        """Run a series of calls from one node; the answer comes when all have ended."""
        self._employ(request, answer)

    def do_load(self, request: Message, answer: Answer) -> None:
        """Keep connections of one node busy for a time; the answer says what came."""
        self._employ(request, answer)

    def _employ(self, request: Message, answer: Answer) -> None:
        """Give an order to a test client, and its answer to whoever asked."""
        worker = self._living_client()

        def receive(_events: int) -> None:
            try:
                outcomes = worker.receive()
            except (EOFError, OSError) as error:
                self._selector.unregister(worker.socket)
                worker.socket.close()
                del self._called_for[worker]
                answer(Message({"error": {"errno": 0, "text": f"the test client is gone ({error})"}}))
                return
            if outcomes is not None:
                self._selector.unregister(worker.socket)
                self._idle_clients.append(worker)
                del self._called_for[worker]
                answer(outcomes)

        self._called_for[worker] = self._asking
        worker.submit(request)
        self._selector.register(worker.socket, selectors.EVENT_READ, receive)

    def do_watched_call(self, request: Message, answer: Answer) -> None:
        """Make calls while a file of another node is read every `period_s`; go on reading for `after_s` when they end.

        With `until` the reading goes on after that, every `late_period_s`, until the file has no more than so many
        lines, for `longest_s` at most.
        """
        fields = request.fields
        watch = Watch(self._namespaces, fields["watched"], fields["path"])
        watch.read()
        self._watched_for[watch] = self._asking
        outcomes: list[Message] = []
        ended = 0.0

        def called(message: Message) -> None:
            nonlocal ended
            ended = time.monotonic()
            outcomes.append(message)

        def is_over(text: bytes) -> bool:
            if watch not in self._watched_for:
                return True
            if not outcomes:
                return False
            passed = time.monotonic() - ended
            waits = fields["until"] is not None and len(text.splitlines()) > fields["until"]
            return passed >= (fields["longest_s"] if waits else fields["after_s"]) or "error" in outcomes[0].fields

        def read() -> bool:
            try:
                over = is_over(watch.read())
            except OSError as error:
                over = True
                outcomes[:] = [Message({"error": {"errno": error.errno or 0, "text": fields["path"]}})]
            if not over:
                is_late = bool(outcomes) and time.monotonic() - ended >= fields["after_s"]
                self._repeat(fields["late_period_s" if is_late else "period_s"], read)
                return True
            self._watched_for.pop(watch, None)
            answer(_watched(outcomes[0] if outcomes else Message({}), watch))
            return True

        self.do_call(request, called)
        self._repeat(fields["period_s"], read)

    def _living_client(self) -> clients.Worker:
        """Return a test client to work with; `kill -9 -1` in a node ends also those that wait for work."""
        while self._idle_clients:
            worker = self._idle_clients.pop()
            if worker.is_alive():
                return worker
            worker.socket.close()
        return clients.Worker()

    def do_run(self, request: Message, answer: Answer) -> None:
        """Run a program to its end; its output is in the file the caller named."""
        pid = self._spawn(request)
        killed = False

        def ended(status: int) -> None:
            self._forget(timer)
            answer(Message({"status": status, "timed_out": killed}))

        def expire() -> bool:
            nonlocal killed
            if self._children.get(pid) is ended:
                killed = True
                _kill_group(pid)
            return True

        self._children[pid] = ended
        timer = self._repeat(request.fields["timeout_s"], expire)

    def do_start_program(self, request: Message, answer: Answer) -> None:
        """Start a program that stays, and answer when it listens on its TCP port (0: at once)."""
        pid = self._spawn(request)
        port = request.fields["tcp_port"]
        deadline = time.monotonic() + request.fields["timeout_s"]
        node = request.fields["node"]
        self._children[pid] = _nothing

        def ready() -> bool:
            if pid not in self._children:
                answer(Message({"error": {"errno": 0, "text": "it ended before it was ready"}}))
                return True
            tables = [files.read_file(self._namespaces, node, f"/proc/net/{t}").decode() for t in ("tcp", "tcp6")]
            if not port or port in processes.listening_ports(tables):
                answer(Message({"pid": pid}))
                return True
            if time.monotonic() > deadline:
                _kill_group(pid)
                answer(Message({"error": {"errno": 0, "text": f"it did not listen on TCP port {port} in time"}}))
                return True
            return False

        if not ready():
            self._repeat(POLL_S, ready)

    def do_stop_process(self, request: Message, answer: Answer) -> None:
        """Kill a process; the answer comes when it has ended. One that ended before is no fault."""
        pid = request.fields["pid"]
        if pid not in self._children:
            answer(Message({}))
            return
        self._children[pid] = lambda _status: answer(Message({}))
        _kill_group(pid)

    def do_ask_program(self, request: Message, answer: Answer) -> None:
        """Send a line to the socket of a program that was started here; answer with the line that comes back.

        One that has just been started may not listen yet.
        """
        fields = request.fields
        question = Question(fields["socket"], fields["line"].encode())
        deadline = time.monotonic() + fields["timeout_s"]

        def finish(message: Message) -> bool:
            question.close()
            answer(message)
            return True

        def advance() -> bool:
            try:
                reply = question.advance()
            except OSError as error:
                return finish(Message({"error": {"errno": error.errno or 0, "text": str(error)}}))
            if reply is not None:
                return finish(Message({"line": reply.decode()}))
            if fields["pid"] not in self._children:
                return finish(Message({"error": {"errno": 0, "text": "it has ended"}}))
            if time.monotonic() > deadline:
                return finish(Message({"error": {"errno": 0, "text": "it did not answer in time"}}))
            return False

        if not advance():
            self._repeat(POLL_S, advance)

    def _spawn(self, request: Message) -> int:
        fields = request.fields
        program = processes.Program(tuple(fields["argv"]), fields["environment"], fields["output"])
        return processes.spawn(self._machines, fields["node"], program)

    def reap(self) -> None:
        """Collect every process that has ended; the agent is the parent of all orphans."""
        while True:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                child(os.waitstatus_to_exitcode(wait_status))

    def do_share_folder(self, request: Message, answer: Answer) -> None:
        """Mount a folder of the host over itself, writable: machines made later have it too."""
        path = request.fields["path"]
        if syscalls.has_filesystem("hostfs"):
            os.makedirs(path, exist_ok=True)  # noqa: PTH103 - a path as the host gave it
            syscalls.mount("none", path, "hostfs", 0, path)
        answer(Message({}))

    def do_sleep(self, request: Message, answer: Answer) -> None:
        """Answer after so many seconds, with the time then; where time is virtual that is as soon as possible."""

        def wake() -> bool:
            del self._sleeping[timer]
            answer(Message({"now": time.time()}))
            return True

        timer = self._repeat(request.fields["seconds"], wake)
        self._sleeping[timer] = self._asking

    def _repeat(self, seconds: float, action: Callable[[], bool]) -> Timer:
        """Call `action` after `seconds`, and again every POLL_S until it returns True."""
        timer = (time.monotonic() + seconds, action)
        self._timers.append(timer)
        return timer

    def _forget(self, timer: Timer) -> None:
        with suppress(ValueError):  # it has run out already
            self._timers.remove(timer)

    def next_timer_s(self) -> float | None:
        if not self._timers:
            return None
        return min(LONGEST_WAIT_S, max(0.0, min(due for due, _ in self._timers) - time.monotonic()))

    def run_timers(self) -> None:
        now = time.monotonic()
        due = [action for when, action in self._timers if when <= now]
        self._timers = [(when, action) for when, action in self._timers if when > now]
        for action in due:
            if not action():
                self._repeat(POLL_S, action)


def _watched(outcomes: Message, watch: Watch) -> Message:
    """Return the outcomes of the calls, and behind their answers the texts that were read."""
    spells = [[spell.first_end_ns, spell.last_begin_ns, spell.readings] for spell in watch.spells]
    fields = {**outcomes.fields, "spells": spells, "longest_gap_ns": watch.longest_gap_ns}
    return Message(fields, (*outcomes.blobs, *(spell.text for spell in watch.spells)))


def _nothing(_status: int) -> None:
    """Servers and daemons end when the lab does; nobody waits for them."""


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
