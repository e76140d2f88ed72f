"""Linux Virtual Server clusters on a real kernel: built, driven, captured, judged.

The public Python API is what this module names; everything is imported on first use, so that
``import lvslab`` (which the agent in the kernel does too) costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_API = {
    "LvslabError": "lvslab.errors",
    "Topology": "lvslab.topology.model",
    "load_topology": "lvslab.topology",
    "make_plan": "lvslab.plan",
    "open_lab": "lvslab.lab",
    "Lab": "lvslab.lab",
    "verify": "lvslab.lab",
    "read_capture": "lvslab.capture.pcapng",
    "find_walks": "lvslab.walk",
}

__all__ = ["__version__", *sorted(_API)]  # noqa: PLE0604 - the names are resolved by __getattr__


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module 'lvslab' has no attribute {name!r}")
    return getattr(import_module(_API[name]), name)
