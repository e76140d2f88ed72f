"""The native kernel, tested where we are surely root and IPVS is there: inside the kernel that labs run on.

What runs there is the installed command, with the same interpreter and packages as here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from lvslab.kernels.start import RunningKernel
from tests.kernel.support import COMMAND, run_outside, run_script

pytestmark = pytest.mark.kernel

IN_A_HOME_OF_ITS_OWN = """
LVSLAB_HOME=$(mktemp -d)
export LVSLAB_HOME
"$@"
status=$?
ls "$LVSLAB_HOME"
rm -r "$LVSLAB_HOME"
exit $status
"""

WHAT_IS_THERE = """
ip netns list
ip -j link show
cat /proc/mounts
for process in /proc/[0-9]*; do tr '\\0' ' ' <"$process/cmdline"; echo; done
ls -d /tmp/lvslab* /run/lvslab* 2>/dev/null
true
"""


@pytest.mark.parametrize("topology", ["dr", "nat"])
def test_verify_passes_and_leaves_nothing(kernel: RunningKernel, topology: str) -> None:
    before = what_is_there(kernel)
    document = run_native(kernel, "verify", topology, "--kernel", "native")
    (result,) = document["results"]
    assert (result["topology"], result["kernel"], result["verdict"]) == (topology, "native", "pass")
    assert {item["verdict"] for item in result["expectations"]} == {"pass"}
    assert what_is_there(kernel) == before


def test_doctor_says_native(kernel: RunningKernel) -> None:
    document = run_native(kernel, "doctor")
    assert document["kernel"]["found"] == "native"
    found = {finding["name"]: finding for finding in document["findings"]}
    assert found["user"]["found"] == "root"
    assert all(found[f"native {module}"]["ok"] for module in ("ip_vs", "veth", "bridge", "ipip"))
    assert {"rr", "wrr"} <= set(found["native schedulers"]["found"].split())


def what_is_there(kernel: RunningKernel) -> list[str]:
    """Return the lines sorted, since processes have no order; a kernel thread's is empty."""
    return sorted(filter(None, run_outside(kernel, "sh", "-c", WHAT_IS_THERE).output.splitlines()))


def run_native(kernel: RunningKernel, *words: str) -> dict[str, Any]:
    out = kernel.folder.share / "out.json"
    done = run_script(kernel, IN_A_HOME_OF_ITS_OWN, str(COMMAND), *words, "--json", str(out))
    assert done.status == 0, done.output
    found = json.loads(out.read_text())
    out.unlink()
    assert isinstance(found, dict)
    return found
