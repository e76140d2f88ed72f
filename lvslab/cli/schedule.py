"""lvslab schedule: what a scheduler does, without a kernel."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import ended_option, json_option

if TYPE_CHECKING:
    from lvslab.ipvs.schedulers import Reading
    from lvslab.topology.model import Address


@click.command("schedule")
@click.argument("scheduler", metavar="SCHEDULER")
@click.option("--weights", required=True, metavar="W,W,…", help="Weights of servers A, B, C, …, in order of adding.")
@click.option("-n", "count", type=click.IntRange(1, 100_000), default=20, help="How many connections.")
@click.option("--reading", type=click.Choice(["kernel", "papers"]), default="kernel", help="Whose algorithm.")
@click.option("--clients", default="", metavar="IP,…", help="Clients that take turns; default: always another one.")
@click.option("--destinations", default="", metavar="IP,…", help="Destination addresses that take turns; default: one.")
@ended_option
@json_option
def command(
    scheduler: str,
    weights: str,
    count: int,
    reading: Reading,
    clients: str,
    destinations: str,
    ended: bool,
    json_path: str | None,
) -> None:
    """Show which servers a scheduler gives connections to, and why: what it remembers and compares at each.

    The kernel's reading puts each new server in front of the others, as the kernel does; the papers' keeps the order.
    """
    from lvslab.ipvs.schedulers import RANDOM
    from lvslab.ipvs.schedulers.forecast import flows, forecast, service_of_weights

    numbers = _weights(weights)
    if scheduler == RANDOM:
        _show_distribution(numbers, json_path)
        return
    model = service_of_weights(scheduler, numbers, reading)
    names = [server.name for server in model.servers_as_added]
    connections = flows(count, _addresses("--clients", clients), _addresses("--destinations", destinations))
    choices = forecast(model, connections, ended=ended)
    if json_path is not None:
        from lvslab.report.json_report import to_text
        from lvslab.report.output import write_output
        from lvslab.report.schedule_json import steps

        document = {
            "scheduler": scheduler,
            "reading": reading,
            "weights": dict(zip(names, numbers, strict=True)),
            "steps": steps(choices),
        }
        write_output(json_path, to_text(document))
        return
    from lvslab.report.console import make_console
    from lvslab.report.schedule_terminal import render_choices

    weighed = " ".join(f"{name}={weight}" for name, weight in zip(names, numbers, strict=True))
    whose = {"kernel": "as the kernel runs it", "papers": "as the papers state it"}[reading]
    make_console(sys.stdout).print(render_choices(f"{scheduler} {whose}, {weighed}", choices))


def _show_distribution(weights: list[int], json_path: str | None) -> None:
    """Chance has no sequence, but shares: those of the first connection."""
    from lvslab.ipvs.schedulers import RANDOM
    from lvslab.ipvs.schedulers.forecast import service_of_weights
    from lvslab.ipvs.schedulers.twos import distribution

    shares = distribution(service_of_weights("rr", weights, "kernel").scheduler.servers)
    if json_path is not None:
        from lvslab.report.json_report import to_text
        from lvslab.report.output import write_output

        probabilities = {name: float(share) for name, share in shares.items()}
        write_output(json_path, to_text({"scheduler": RANDOM, "reading": "kernel", "probabilities": probabilities}))
        return
    click.echo(f"{RANDOM} chooses at random; the first connection goes to")
    for name, share in sorted(shares.items()):
        click.echo(f"  {name}  {float(share):7.2%}  ({share})")


def _weights(text: str) -> list[int]:
    from lvslab.errors import BadInput
    from lvslab.topology.limits import GROUP_MEMBERS, WEIGHT
    from lvslab.topology.wording import shown

    words = text.split(",")
    weights = []
    for word in words:
        weight = WEIGHT.read(word)
        if weight is None:
            expected = f"whole numbers from {WEIGHT}, separated by commas"
            raise BadInput("not a weight", where="--weights", expected=expected, found=shown(word))
        weights.append(weight)
    if len(words) > GROUP_MEMBERS:
        raise BadInput(
            "too many servers", where="--weights", expected=f"at most {GROUP_MEMBERS}", found=str(len(words))
        )
    return weights


def _addresses(option: str, text: str) -> list[Address]:
    from ipaddress import ip_address

    from lvslab.errors import BadInput

    try:
        return [ip_address(word) for word in text.split(",")] if text else []
    except ValueError as error:
        raise BadInput("not an address", where=option, expected="addresses, separated by commas", found=text) from error
