"""What knows Mininet: where it is installed, the network that it builds in a lab's kernel, its own command line.

Mininet is imported only by the programs of this package, which run as processes of their own, by a Python that has
it; nothing else of lvslab needs it.
"""

from pathlib import Path

SOCKET = "/run/lvslab/mininet"
"""Where the process that has the network is asked, in the /run of the lab's kernel."""

SERVER = Path(__file__).with_name("server.py")
"""The program that has the network: not imported, since this Python need not have Mininet."""

TOPO_READER = Path(__file__).with_name("topo_reader.py")
"""The program that reads a Topo class, for the same reason by its path."""
