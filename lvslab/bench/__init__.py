"""Benchmarks of what the papers claim in figures: one module each, measured on running labs.

A benchmark's `run` takes its settings and returns a :class:`lvslab.bench.result.Benchmark`, which says how it is to be
shown; :mod:`lvslab.report.bench` shows any of them.
"""
