"""Front-ends that are told to end (SIGTERM): one line, status 143, and nothing is left."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from lvslab.kernels.folder import LOCK
from tests.kernel.support import COMMAND, COMMAND_TIMEOUT_S

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("phase", ["boot", "build"])
@pytest.mark.parametrize("verb", ["verify", "up"])
def test_terminated_while_it_works(labs_home: Path, kernel_kind: str, verb: str, phase: str) -> None:
    words = [str(COMMAND), verb, "dr", "-v", "--kernel", kernel_kind]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        try:
            assert command.stderr is not None
            while phase not in (line := command.stderr.readline()):
                assert line
            command.send_signal(signal.SIGTERM)
            out, err = command.communicate(timeout=COMMAND_TIMEOUT_S)
        finally:
            command.kill()
    assert (command.returncode, out) == (143, "")
    assert err.splitlines()[-1] == "lvslab: terminated"
    assert "Traceback" not in err
    assert [path.name for path in labs_home.iterdir() if path.name != LOCK] == []
