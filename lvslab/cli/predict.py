"""lvslab predict: which server comes next, before a packet is sent."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import (
    complete_topology,
    ended_option,
    json_option,
    parameters,
    refuse_beside,
    running_option,
    topology_options,
)

if TYPE_CHECKING:
    from lvslab.ipvs.schedulers.service import ServiceModel
    from lvslab.topology.model import Address, Topology, VirtualService

EXPIRE_QUIESCENT = "net.ipv4.vs.expire_quiescent_template"


@click.command("predict")
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_topology)
@topology_options
@running_option
@click.option("-n", "count", type=click.IntRange(1, 100_000), default=12, help="How many connections.")
@ended_option
@json_option
def command(
    name: str | None,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    lab: str | None,
    count: int,
    ended: bool,
    json_path: str | None,
) -> None:
    """Show, for each virtual service, where its next connections will go and why.

    Of a topology these are its first connections, and no kernel is needed; of a lab that is up (--lab) those that come
    next, as far as its table tells. The calls are those of verify: each from a port of its own, from the first client,
    or, where a service is persistent, from all clients in turn.
    """
    from lvslab.errors import BadInput
    from lvslab.ipvs.schedulers.forecast import flows, forecast
    from lvslab.topology.model import Protocol

    if lab is not None:
        refuse_beside("--lab", "the lab has its topology", "name", "settings", "without")
        topology, models = _of_lab(lab or None)
    elif name is not None:
        topology, models = _of_topology(name, settings, without)
    else:
        raise click.UsageError("Missing argument 'NAME|FILE', or option '--lab'.")
    if not topology.services:
        raise BadInput("no virtual service to predict", where=topology.name, expected="services:", found="none")
    found = []
    for service, model in zip(topology.services, models, strict=True):
        active = service.protocol is not Protocol.UDP
        connections = flows(count, _callers(topology, service), [service.vip])
        found.append((service, forecast(model, connections, active=active, ended=ended)))
    if json_path is not None:
        from lvslab.report.json_report import to_text
        from lvslab.report.output import write_output
        from lvslab.report.schedule_json import of_services

        document = {"topology": topology.name, "services": of_services(found)}
        write_output(json_path, to_text(document))
        return
    from lvslab.report.console import make_console
    from lvslab.report.schedule_terminal import render_services

    make_console(sys.stdout).print(render_services(found))


def _callers(topology: Topology, service: VirtualService) -> list[Address]:
    """Return the addresses that verify calls a service from."""
    from lvslab.traffic.drive import clients_of

    return [address for _, address in clients_of(topology, service)]


def _of_topology(name: str, settings: tuple[str, ...], without: tuple[str, ...]) -> tuple[Topology, list[ServiceModel]]:
    from lvslab.ipvs.schedulers.forecast import service_of_topology
    from lvslab.topology import load_topology

    topology = load_topology(name, params=parameters(settings), without=without)
    return topology, [service_of_topology(service) for service in topology.services]


def _of_lab(name: str | None) -> tuple[Topology, list[ServiceModel]]:
    """Read the tables of a lab's directors. Raises BadInput where one does not have a service as described."""
    from lvslab.errors import BadInput
    from lvslab.ipvs.intent import entry_of, key_of
    from lvslab.ipvs.schedulers import Counting
    from lvslab.ipvs.schedulers.forecast import service_of_table
    from lvslab.running import attached, find_lab

    with attached(find_lab(name)) as lab:
        names = {address: node.name for node in lab.topology.nodes for address in node.own_addresses}
        counting = Counting.of_release(lab.kernel_release)
        totals = lab.director_totals()
        tables = {director: lab.ipvs(director).services() for director in totals}
        services, models = [], []
        for service in lab.topology.services:
            entry = entry_of(tables[service.director], service)
            if entry is None:
                raise BadInput(
                    f"no service {key_of(service)}",
                    where=service.director,
                    next_step="lvslab exec … ipvsadm -Ln shows it",
                )
            fresh = totals[service.director].connections == 0
            model = service_of_table(
                entry,
                names,
                counting=counting,
                fresh=fresh,
                entries=lab.connections(service.director),
                without_quiescent=lab.node(service.director).read_sysctl(EXPIRE_QUIESCENT) != "0",
                clients=_callers(lab.topology, service),
            )
            services.append(replace(service, scheduler=entry.service.scheduler))
            models.append(model)
        return replace(lab.topology, services=tuple(services)), models
