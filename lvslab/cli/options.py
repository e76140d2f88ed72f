"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lvslab.errors import BadInput, LvslabError

Command = TypeVar("Command", bound=Callable[..., Any])

_KERNEL = "native|uml[:RELEASE]"
_KERNEL_HELP = "Where to run (lvslab kernel list); default: native if this kernel can, else uml."


def topology_options(command: Command) -> Command:
    """Add --set and --without."""
    setting = click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Set a topology's parameter.")
    without = click.option(
        "--without", metavar="SETTING[@NODE]", multiple=True, help="Remove an implied setting: a fault in one word."
    )
    return setting(without(command))


def kernel_option(command: Command) -> Command:
    """Add --kernel."""
    return click.option("--kernel", metavar=_KERNEL, shell_complete=complete_kernel, help=_KERNEL_HELP)(command)


def kernels_option(command: Command) -> Command:
    """Add --kernel, to be given any number of times."""
    option = click.option(
        "--kernel",
        "kernels",
        metavar=_KERNEL,
        multiple=True,
        shell_complete=complete_kernel,
        help=f"{_KERNEL_HELP} Repeat it to run on several.",
    )
    return option(command)


def memory_option(command: Command) -> Command:
    """Add --memory."""
    option = click.option(
        "--memory", "memory_mib", metavar="MIB", type=click.IntRange(64), default=512, help="Memory of a guest."
    )
    return option(command)


def lab_option(command: Command) -> Command:
    """Add --lab."""
    option = click.option(
        "--lab", metavar="NAME", shell_complete=complete_lab, help="Which lab, when several are up (lvslab ps)."
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


def complete_kernel(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete names of kernels in the shell."""
    from lvslab.kernels.images import images

    names = ["native", "uml", *(f"uml:{image.release}" for image in images() if image.release)]
    return [name for name in names if name.startswith(incomplete)]


def complete_lab(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete names of labs that are up."""
    from lvslab.kernels.attach import running_labs

    try:
        labs = running_labs()
    except LvslabError:
        return []
    return [record.name for record in labs if record.name.startswith(incomplete)]


def complete_node(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Complete names of the nodes of the lab that is meant."""
    from lvslab.kernels.attach import find_lab

    try:
        nodes = find_lab(ctx.params.get("lab")).node_names
    except LvslabError:
        return []
    return [node for node in nodes if node.startswith(incomplete)]
