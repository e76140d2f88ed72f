"""The commands that start what answers in a node, in a container that has lvslab's image."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lvslab.plan import programs
from lvslab.plan.steps import StartServer
from lvslab.topology.model import Application

_ANY_ADDRESS = {4: "0.0.0.0", 6: "::"}  # noqa: S104 - inside a node of the cluster
_QUIET = "</dev/null >/dev/null 2>&1 &"


def serving_commands(step: StartServer) -> Iterator[str]:
    """Yield shell lines that leave the server running."""
    if step.program == "nginx":
        yield from _nginx(step)
    elif step.kind == Application.FTP:
        yield f"python3 -m lvslab.agent.ftp_server {step.node} {step.port} {_QUIET}"
    else:
        address = _ANY_ADDRESS[step.family] if step.address is None else str(step.address)
        words = (step.node, step.kind, address, str(step.port), str(step.answer_bytes))
        yield f"python3 -m lvslab.agent.serve {shlex.join(words)} {_QUIET}"


def _nginx(step: StartServer) -> Iterator[str]:
    folder = f"/tmp/nginx-{step.port}-{step.family}"  # noqa: S108 - in the container
    listen = f"[::]:{step.port} ipv6only=on" if step.family == 6 else str(step.port)
    configuration = programs.nginx_configuration(step.node, listen, folder, step.answer_bytes)
    yield f"mkdir -p {folder}"
    yield f"cat >{folder}/nginx.conf <<'END'\n{configuration}END"
    yield f"{shlex.join(programs.nginx(f'{folder}/nginx.conf', step.port).argv)} {_QUIET}"
