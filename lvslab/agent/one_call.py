"""One call whose end is chosen: by the server after its answer, by the client before it asks, or by a reset.

What a director remembers of a connection depends on who ends it (net/netfilter/ipvs/ip_vs_proto_tcp.c).
"""

from __future__ import annotations

import socket
import struct
import time

from lvslab.agent.calls import RECEIVE_BYTES, Call, Outcome, bind_source, error_name, open_socket

SERVER, CLIENT, RESET = "server", "client", "reset"
_NO_LINGERING = struct.pack("ii", 1, 0)
"""l_onoff and l_linger of socket(7): closing then resets the connection."""


def make_call(call: Call, ending: str, timeout_s: float) -> Outcome:
    """Make the call to its end and return how it went; it has `timeout_s` for each step."""
    started = time.monotonic()
    answer, status = b"", "ok"
    with open_socket(call) as channel:
        channel.settimeout(timeout_s)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bind_source(channel, call.source, call.source_port)
            channel.connect((call.address, call.port))
            if ending == SERVER:
                channel.sendall(call.question)
                answer = _read_all(channel, to_the_end=call.kind != "datagram")
            elif ending == RESET:
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
        except TimeoutError:
            status = "ETIMEDOUT"
        except OSError as error:
            status = error_name(error)
        port = channel.getsockname()[1] or call.source_port
    return Outcome(status, port, time.monotonic() - started, answer)


def _read_all(channel: socket.socket, *, to_the_end: bool) -> bytes:
    data = answer = channel.recv(RECEIVE_BYTES)
    while data and to_the_end:
        data = channel.recv(RECEIVE_BYTES)
        answer += data
    return answer
