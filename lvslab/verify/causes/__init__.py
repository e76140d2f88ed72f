"""Likely causes: what explains a failure, from the capture and, where the lab was asked, from the nodes' own state.

Each function looks at one kind of failure, most specific explanation first. Without facts (a stored capture)
it names what to check.
"""
