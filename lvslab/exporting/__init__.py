"""A topology as files for engines that run one container for each node: beyond one machine's namespaces.

The engine wires the nodes; what makes a cluster of them is one script for each node, out of the same plan.
"""
