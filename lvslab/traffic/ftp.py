"""Files fetched over FTP by a real client, curl, alternately over passive and active data connections (RFC 959)."""

from __future__ import annotations

from lvslab.sandbox.sandbox import Sandbox
from lvslab.topology.model import Address
from lvslab.traffic.outcome import Outcome

TIMEOUT_S = 3
FILE = "server"
MODES = (
    ("--ftp-pasv", "--disable-epsv", "--no-ftp-skip-pasv-ip"),
    ("--ftp-port", "-", "--disable-eprt"),
)
"""EPSV and EPRT (RFC 2428) carry no IPv4 address; curl believes the one of PASV only when told to (curl(1))."""
FAILURES = {7: "ECONNREFUSED", 10: "ETIMEDOUT", 12: "ETIMEDOUT", 28: "ETIMEDOUT"}
"""curl(1), EXIT CODES."""
UNKNOWN_PORT = 0


def fetch(sandbox: Sandbox, client: str, address: Address, port: int, times: int) -> tuple[Outcome, ...]:
    """Fetch a file so many times in each mode, in turn; which ports curl takes is not known. Raises KernelFault."""
    outcomes = []
    for options in MODES * times:
        url = f"ftp://{address}:{port}/{FILE}"
        done = sandbox.run(client, ["curl", "-q", "-sS", "--max-time", str(TIMEOUT_S), *options, url])
        status = "ok" if done.status == 0 else FAILURES.get(done.status, f"curl exit {done.status}")
        outcomes.append(Outcome(client, UNKNOWN_PORT, str(address), port, status, 0.0, done.output.encode()))
    return tuple(outcomes)
