"""lvslab graph: a topology, drawn."""

from __future__ import annotations

import sys

import click

from lvslab.cli.options import complete_topology, parameters, topology_options


@click.command("graph")
@click.argument("name", metavar="NAME|FILE", shell_complete=complete_topology)
@topology_options
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Print a Mermaid flowchart instead.")
@click.option("--svg", "svg_path", metavar="FILE", help="Write an SVG picture to FILE (- for stdout) instead.")
@click.option("--lang", "language", type=click.Choice(["en", "zh"]), default="en", help="Language of the drawing.")
def command(
    name: str,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    as_mermaid: bool,
    svg_path: str | None,
    language: str,
) -> None:
    """Draw nodes, networks, addresses and services, and mark what was taken away or set by hand."""
    from lvslab.errors import BadInput
    from lvslab.topology import load_topology

    if as_mermaid and svg_path is not None:
        raise BadInput("two drawings at once", expected="--mermaid or --svg, not both")
    topology = load_topology(name, params=parameters(settings), without=without)
    if svg_path is not None:
        from lvslab.report.graph.svg import draw_svg
        from lvslab.report.output import write_output

        write_output(svg_path, draw_svg(topology, language=language).encode())
    elif as_mermaid:
        from lvslab.report.graph.mermaid import draw_mermaid
        from lvslab.report.output import STDOUT, write_output

        write_output(STDOUT, draw_mermaid(topology, language=language).encode())
    else:
        from lvslab.report.console import make_console
        from lvslab.report.graph.terminal import render_graph

        make_console(sys.stdout).print(render_graph(topology, language=language))
