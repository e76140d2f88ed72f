"""A request too large for one packet, as a client's first after its kernel has forgotten every path's MTU."""

from __future__ import annotations

from lvslab.labs.view import View
from lvslab.sandbox.sandbox import Finished

CURL_TIMED_OUT = 28
PATIENCE_S = 3
"""For an answer: one retransmission is made within the first second."""


def send_large_request(view: View, client: str | None, size_bytes: int, vip: str | None = None) -> Finished:
    """Send it with curl, in one header so that a server must have all of it; return how curl ended."""
    service = view.service(vip)
    node = client or view.client
    view.run(node, "ip", "route", "flush", "cache")
    host = f"[{service.vip}]" if service.vip.version == 6 else str(service.vip)
    padding = f"X-Padding: {'x' * size_bytes}"
    url = f"http://{host}:{service.port}/"
    return view.run(node, "curl", "-q", "-s", "--max-time", str(PATIENCE_S), "-H", padding, url)
