"""Topology to ordered typed steps; steps as text and as shell."""

from lvslab.plan.make import make_plan

__all__ = ["make_plan"]
