"""Making topologies: beginning one, and being told of faults while it is written."""
