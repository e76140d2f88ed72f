"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import isnan
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from lvslab.errors import BadInput, LvslabError
from lvslab.kernels.memory import MIN_MEMORY_MIB
from lvslab.sandbox.backends import BACKENDS, NETNS

Command = TypeVar("Command", bound=Callable[..., Any])

LANGUAGES = ("en", "zh")

"""Tried with the shipped topologies: Debian's 6.1 needs 88, a 6.12 built for labs 56; less ends in a panic."""

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


def backend_option(command: Command) -> Command:
    """Add --backend."""
    option = click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        default=NETNS,
        help="What builds the network; default: netns. Mininet has to be installed (lvslab doctor), and is slower.",
    )
    return option(command)


def memory_option(command: Command) -> Command:
    """Add --memory."""
    option = click.option(
        "--memory",
        "memory_mib",
        metavar="MIB",
        type=click.IntRange(MIN_MEMORY_MIB),
        default=512,
        help=f"Memory of a guest, at least {MIN_MEMORY_MIB}.",
    )
    return option(command)


def time_option(command: Command) -> Command:
    """Add --time, as `virtual_time`."""
    option = click.option(
        "--time",
        "virtual_time",
        type=click.Choice(["real", "virtual"]),
        default="real",
        callback=lambda _ctx, _param, value: value == "virtual",
        help="Virtual: sleeping costs nothing, runs repeat exactly; needs a kernel made by lvslab kernel build.",
    )
    return option(command)


def lab_option(command: Command) -> Command:
    """Add --lab."""
    option = click.option(
        "--lab", metavar="NAME", shell_complete=complete_lab, help="Which lab, when several are up (lvslab ps)."
    )
    return option(command)


def running_option(command: Command) -> Command:
    """Add --lab, which may go without a value: an empty text then."""
    option = click.option(
        "--lab",
        metavar="[NAME]",
        is_flag=False,
        flag_value="",
        shell_complete=complete_lab,
        help="Use a lab that is up, as it is now; without NAME, the only one (lvslab ps).",
    )
    return option(command)


def refuse_beside(chosen: str, what: str, *others: str) -> None:
    """Refuse options (by the names of their parameters) that were given beside `chosen`. Raises BadInput."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in others and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise BadInput(what, where=chosen, expected=f"it without {', '.join(given)}")


def ended_option(command: Command) -> Command:
    """Add --ended."""
    return click.option(
        "--ended",
        is_flag=True,
        help="Each connection has ended before the next begins, as in verify; default: all stay open.",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json FILE."""
    return click.option("--json", "json_path", metavar="FILE", help="Write JSON to FILE (- for stdout).")(command)


def html_option(command: Command) -> Command:
    """Add --html FILE."""
    option = click.option(
        "--html", "html_path", metavar="FILE", help="Write a page for a browser to FILE (- for stdout)."
    )
    return option(command)


def language_option(command: Command) -> Command:
    """Add --lang, as `language`: what was chosen, else the locale's."""
    option = click.option(
        "--lang",
        "language",
        type=click.Choice(LANGUAGES),
        callback=lambda _ctx, _param, value: value or language_of(os.environ),
        help="Language; default: the locale's, else en.",
    )
    return option(command)


def language_of(environ: Mapping[str, str]) -> str:
    """Return the language of the messages' locale (POSIX.1-2017, XBD 8.2), if it is one of ours."""
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return next((language for language in LANGUAGES if locale.startswith(language)), LANGUAGES[0])


class FiniteRange(click.FloatRange):
    """Numbers within bounds; click's own lets NaN through, which is within none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def parameters(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return --set options as a mapping. Raises BadInput."""
    found: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput("not a parameter", where=f"--set {text}", expected="KEY=VALUE", found=text)
        found[key] = value
    return found


def complete_topology(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete shipped names in the shell, and names of files where no such name begins like that."""
    from lvslab.topology import shipped

    names = [CompletionItem(name) for name in shipped() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


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
