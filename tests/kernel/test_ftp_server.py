"""The helper at the director rewrites what an FTP server of others says: pyftpdlib, with curl as its client."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lvslab.lab import Lab
from lvslab.traffic.ftp import MODES
from tests.kernel.support import OpenLab

pytestmark = pytest.mark.kernel

START = """
mkdir -p /tmp/ftp && echo from pyftpdlib >/tmp/ftp/server
{python} -m pyftpdlib -i 0.0.0.0 -p {port} -d /tmp/ftp >/dev/null 2>&1 &
until ss -Hltn "sport = :{port}" | grep -q .; do sleep 0.1; done
"""
CANNOT_CONNECT = (7, 28)
"""curl(1), EXIT CODES."""


def fetch(lab: Lab, port: int) -> tuple[int, str]:
    passive, _ = MODES
    done = lab.node("client").run("curl", "-q", "-s", "--max-time", "4", *passive, f"ftp://203.0.113.100:{port}/server")
    return done.status, done.output


@pytest.mark.parametrize(("port", "comes"), [(21, True), (2121, False)])
def test_a_passive_file_of_another_server_comes_by_the_helper_alone(
    open_lab_in: OpenLab, port: int, comes: bool
) -> None:
    with open_lab_in("ftp", port=port, real_servers=1, without=["server"]) as lab:
        started = lab.node("rs1").run("sh", "-c", START.format(python=Path(sys.executable), port=port))
        assert started.status == 0, started.output
        status, output = fetch(lab, port)
    if comes:
        assert (status, output) == (0, "from pyftpdlib\n")
    else:
        assert status in CANNOT_CONNECT
