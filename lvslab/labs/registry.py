"""The checks and observations that lab.yaml names, each one function with a model of its arguments.

A lab's own ``checks.py`` registers more in the same way, for that lab only.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeVar

from lvslab.errors import BadInput
from lvslab.labs.words import NOTHING, Words
from lvslab.topology.document import Entry

if TYPE_CHECKING:
    from lvslab.labs.finding import Finding
    from lvslab.labs.view import View

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Observed:
    """Something seen in the lab: its value as text, in words, and where."""

    value: str
    seen: Words = NOTHING
    where: str = ""
    frames: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unseen:
    """What could not be seen in the lab as it is: what was found in its place, in words, and where."""

    instead: Words = NOTHING
    where: str = ""


@dataclass(frozen=True, slots=True)
class CheckKind:
    name: str
    arguments: type[Entry]
    judge: Callable[[View, Any], Finding]


@dataclass(frozen=True, slots=True)
class ObservationKind:
    name: str
    arguments: type[Entry]
    observe: Callable[[View, Any], Observed | Unseen | None]
    """None where it was not to be seen, and there is nothing more to say."""


@dataclass(slots=True)
class Registry:
    checks: dict[str, CheckKind] = field(default_factory=dict)
    observations: dict[str, ObservationKind] = field(default_factory=dict)

    def copy(self) -> Registry:
        return Registry(dict(self.checks), dict(self.observations))


_SHIPPED = Registry()
_target = _SHIPPED
"""Where decorators register: the shipped registry, or a lab's own while its checks.py is run."""


def check(name: str, arguments: type[Entry]) -> Callable[[Function], Function]:
    """Register a function as the check `name`: (view, arguments) -> Finding."""

    def register(function: Function) -> Function:
        _target.checks[name] = CheckKind(name, arguments, function)
        return function

    return register


def observation(name: str, arguments: type[Entry]) -> Callable[[Function], Function]:
    """Register a function as the observation `name`: (view, arguments) -> Observed; Unseen or None if not there."""

    def register(function: Function) -> Function:
        _target.observations[name] = ObservationKind(name, arguments, function)
        return function

    return register


def shipped_registry() -> Registry:
    """Return the checks and observations that come with lvslab."""
    for package in ("checks", "observations"):
        folder = Path(__file__).with_name(package)
        for module in iter_modules([str(folder)]):
            import_module(f"lvslab.labs.{package}.{module.name}")
    return _SHIPPED


def registry_of(folder: Path) -> Registry:
    """Return the shipped registry and what the lab's own checks.py adds. Raises BadInput if that cannot be run."""
    registry = shipped_registry()
    own = folder / "checks.py"
    if not own.is_file():
        return registry
    registry = registry.copy()
    with _registering_in(registry):
        try:
            runpy.run_path(str(own))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            raise BadInput(
                "the lab's own checks cannot be loaded", where=str(own), found=f"{type(error).__name__}: {error}"
            ) from error
    return registry


@contextmanager
def _registering_in(registry: Registry) -> Iterator[None]:
    global _target  # noqa: PLW0603 - decorators have no other way to know whom they register for
    before, _target = _target, registry
    try:
        yield
    finally:
        _target = before


def only_key(entry: Mapping[str, Any], *beside: str) -> str | None:
    """Return the one key of a mapping that is not among `beside`; None if there is not exactly one."""
    keys = [key for key in entry if key not in beside]
    return keys[0] if len(keys) == 1 else None
