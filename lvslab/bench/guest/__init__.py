"""Programs that benchmarks run inside a kernel: standard library only, except where they are about another tool.

Each prints one line of JSON at its end, with seconds by its own clock, so that Python's start is not in them.
"""
