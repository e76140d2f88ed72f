"""Connections that a client keeps open, as a shell does with /dev/tcp (bash(1), REDIRECTION)."""

from __future__ import annotations

from lvslab.labs.view import View

TIMEOUT_S = 20
_CALLS = r"""
ask() { printf 'GET / HTTP/1.0\r\n\r\n' >&"$1"; sed -n '/^\r$/{n;p;q}' <&"$1"; }
for ((i = 0; i < $3; i++)); do exec {kept}<>"/dev/tcp/$1/$2"; done
asked=()
for ((i = 0; i < $4; i++)); do
  exec {now}<>"/dev/tcp/$1/$2"
  if [ "$5" = keep ]; then asked+=("$now"); else ask "$now"; exec {now}>&-; fi
done
for now in "${asked[@]}"; do ask "$now"; done
"""


def servers_beside(view: View, client: str, address: str, port: int, *, held: int, times: int, keep: bool) -> list[str]:
    """Open `held` connections and leave them open; return who answers `times` more, one after another.

    With `keep` those stay open as well until the last one is made. Calls that are not answered are missing.
    """
    words = (address, str(port), str(held), str(times), "keep" if keep else "close")
    argv = ["timeout", str(TIMEOUT_S), "bash", "-c", _CALLS, "calls", *words]
    return view.lab.node(client).run(*argv, timeout_s=TIMEOUT_S + 10.0).output.split()
