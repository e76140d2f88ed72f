"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lvslab.errors import BadInput

Command = TypeVar("Command", bound=Callable[..., Any])


def topology_options(command: Command) -> Command:
    """Add --set and --without."""
    setting = click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Set a topology's parameter.")
    without = click.option(
        "--without", metavar="SETTING[@NODE]", multiple=True, help="Remove an implied setting: a fault in one word."
    )
    return setting(without(command))


def kernel_option(command: Command) -> Command:
    """Add --kernel."""
    option = click.option(
        "--kernel", metavar="native|uml", help="Where to run; default: native if this kernel can, else uml."
    )
    return option(command)


def json_option(command: Command) -> Command:
    """Add --json FILE."""
    return click.option("--json", "json_path", metavar="FILE", help="Write JSON to FILE (- for stdout).")(command)


def parameters(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return --set options as a mapping. Raises BadInput."""
    found: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput("not a parameter", where=f"--set {text}", expected="KEY=VALUE", found=text)
        found[key] = value
    return found


def complete_topology(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete shipped names in the shell."""
    from lvslab.topology import shipped

    return [name for name in shipped() if name.startswith(incomplete)]
