"""What the markers `lvs` of a test say, taken together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING

from lvslab.errors import BadInput
from lvslab.kernels.memory import check_memory
from lvslab.kernels.uml import DEFAULT_MEMORY_MIB
from lvslab.sandbox.backends import NETNS
from lvslab.topology import load_topology, shipped
from lvslab.topology.wording import did_you_mean, one_of

if TYPE_CHECKING:
    import pytest

    from lvslab.topology.model import Topology

WHERE = "@pytest.mark.lvs"


@dataclass(frozen=True, slots=True)
class KernelOrder:
    """Which kernel; orders that are equal share one."""

    kernel: str | None
    virtual_time: bool
    memory_mib: int


@dataclass(frozen=True, slots=True)
class Order:
    """Which cluster, on which kernel."""

    topology: str
    """A shipped name, or the path of a file."""
    on: KernelOrder
    backend: str = NETNS
    without: tuple[str, ...] = ()
    settings: tuple[tuple[str, object], ...] = ()
    fresh: bool = False
    """Whether nobody else may have used it, or will."""

    def load(self) -> Topology:
        """Raises BadInput."""
        return load_topology(self.topology, params=dict(self.settings), without=self.without)


def order_of(markers: Iterable[pytest.Mark], folder: Path) -> Order:
    """Return what the markers of a test say, the nearest of which comes first; paths are relative to `folder`.

    A farther one, of the class or the module, says what the nearer ones leave out. Raises BadInput.
    """
    words: dict[str, object] = {}
    for mark in markers:
        if mark.args:
            raise BadInput("its arguments have names", where=WHERE, expected="topology=…", found=repr(mark.args[0]))
        words = {**mark.kwargs, **words}
    known = {name: value for name, value in signature(_order).parameters.items() if name != "folder"}
    for name in words:
        if name not in known:
            raise BadInput(
                f"no argument {name!r}", where=WHERE, expected=one_of(known), next_step=did_you_mean(name, known)
            )
    needed = [name for name, value in known.items() if value.default is Parameter.empty and name not in words]
    if needed:
        raise BadInput("which topology?", where=WHERE, expected='topology="dr", or the path of a file')
    for name, value in words.items():
        _check(name, value)
    return _order(folder, **words)  # type: ignore[arg-type] # checked above


def _order(
    folder: Path,
    *,
    topology: str | Path,
    kernel: str | None = None,
    backend: str = NETNS,
    without: str | Iterable[str] = (),
    set: Mapping[str, object] | None = None,  # noqa: A002 - as on the command line
    virtual_time: bool = False,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    fresh: bool = False,
) -> Order:
    return Order(
        _found(topology, folder),
        KernelOrder(kernel, virtual_time, memory_mib),
        backend,
        (without,) if isinstance(without, str) else tuple(without),
        tuple(sorted((set or {}).items())),
        fresh,
    )


def _check(name: str, value: object) -> None:
    """Raise BadInput for a value of another kind than the argument takes, as code passes them by mistake."""
    where = f"{WHERE}({name}=…)"
    if name == "memory_mib":
        check_memory(value, where)
        return
    fits, expected = _KINDS[name]
    if not fits(value):
        raise BadInput("cannot be meant", where=where, expected=expected, found=repr(value))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _are_texts(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, bytes) and all(map(_is_text, value))


_SWITCH = (lambda value: isinstance(value, bool), "True or False")
_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "topology": (
        lambda value: _is_text(value) or isinstance(value, Path),
        'a name such as "dr", or the path of a file',
    ),
    "kernel": (lambda value: value is None or _is_text(value), '"native", "uml" or "uml:RELEASE"'),
    "backend": (_is_text, f'a name such as "{NETNS}"'),
    "without": (lambda value: isinstance(value, str) or _are_texts(value), 'a setting such as "arp_ignore", or a list'),
    "set": (
        lambda value: value is None or (isinstance(value, Mapping) and all(map(_is_text, value))),
        'parameters such as {"real_servers": 3}',
    ),
    "virtual_time": _SWITCH,
    "fresh": _SWITCH,
}
"""By argument: whether a value is of its kind, and which that is."""


def _found(topology: str | Path, folder: Path) -> str:
    """Return a shipped name as it is, and the path of any other file, seen from the test's own."""
    if isinstance(topology, str) and topology in shipped():
        return topology
    path = folder / topology
    return str(path) if path.exists() or path.suffix else str(topology)
