"""Drawings of a topology: in the terminal, as a Mermaid flowchart, as SVG. All pure, from the model alone."""

from lvslab.report.graph.mermaid import draw_mermaid
from lvslab.report.graph.svg import draw_svg
from lvslab.report.graph.terminal import render_graph

__all__ = ["draw_mermaid", "draw_svg", "render_graph"]
