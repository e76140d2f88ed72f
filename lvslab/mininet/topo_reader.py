"""Reads a Mininet Topo class and prints what it describes as JSON: run by a Python that has Mininet.

``python -I topo_reader.py FILE NAME``. NAME is a Topo class of the file, or a name in its ``topos``, as ``mn --custom``
takes it. Nothing is built. What the file itself prints goes to standard error.
"""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from typing import Any

# distutils, which Mininet imports, is deprecated in Python 3.11.
warnings.simplefilter("ignore", DeprecationWarning)

from mininet.topo import Topo  # noqa: E402

SHAPING = ("bw", "delay")
WIRING = {"node1", "node2", "port1", "port2", "addr1", "addr2", "intfName1", "intfName2", "params1", "params2", "cls"}


def find_topo(file: str, name: str) -> Topo:
    """Return the Topo that NAME makes. Raises LookupError, TypeError."""
    names = runpy.run_path(file, run_name="topology")
    make = names.get(name) or names.get("topos", {}).get(name)
    if make is None:
        known = [key for key, each in names.items() if isinstance(each, type) and issubclass(each, Topo)]
        own = [key for key in known if names[key].__module__ == "topology"]
        raise LookupError(f"no {name}; there is {', '.join([*own, *names.get('topos', {})]) or 'no Topo class'}")
    made = make()
    if not isinstance(made, Topo):
        raise TypeError(f"{name} makes no Topo")
    return made


def described(topo: Topo) -> dict[str, Any]:
    """Return the hosts with their options, the switches, and the cables with what each end is given."""
    return {
        "hosts": {name: _texts(topo.nodeInfo(name), "ip", "defaultRoute") for name in topo.hosts()},
        "switches": topo.switches(),
        "cables": [_cable(info) for *_, info in topo.links(withInfo=True)],
    }


def _cable(info: dict[str, Any]) -> dict[str, Any]:
    ends = [
        {
            "node": info[f"node{end}"],
            "port": info[f"port{end}"],
            "ip": (info.get(f"params{end}") or {}).get("ip"),
            **{key: str((info.get(f"params{end}") or {}).get(key, info.get(key)) or "") for key in SHAPING},
        }
        for end in (1, 2)
    ]
    return {"ends": ends, "others": sorted(info.keys() - WIRING - {*SHAPING})}


def _texts(options: dict[str, Any], *keys: str) -> dict[str, str | None]:
    return {key: None if options.get(key) is None else str(options[key]) for key in keys}


if __name__ == "__main__":
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        topo = find_topo(*sys.argv[1:])
    except (LookupError, TypeError) as error:
        sys.exit(str(error))
    json.dump(described(topo), output)
