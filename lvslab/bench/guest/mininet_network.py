"""A network as Mininet builds it, by its Python API, with Linux bridges as switches.

    mininet_network.py FILE

FILE has the network as JSON: switches, and hosts with their cables (switch, address/prefix) and gateway. Prints what
building and stopping it took, as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

USUAL_DESCRIPTORS = 1024
"""mnexec closes as many descriptors as there may be, for each node; what the agent passes on would cost seconds."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (USUAL_DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    wanted = json.loads(Path(sys.argv[1]).read_text())
    begun = time.perf_counter()
    network = Mininet(switch=LinuxBridge, controller=None)
    switches = {name: network.addSwitch(f"s{number}") for number, name in enumerate(wanted["switches"], 1)}
    for host in wanted["hosts"]:
        (switch, address), *others = host["cables"]
        route = f"via {host['gateway']}" if host["gateway"] else None
        node = network.addHost(host["name"], ip=address, defaultRoute=route)
        network.addLink(node, switches[switch])
        for other, own in others:
            network.addLink(node, switches[other], params1={"ip": own})
    network.start()
    built = time.perf_counter()
    network.stop()
    sys.stdout.write(json.dumps({"build_s": built - begun, "remove_s": time.perf_counter() - built}) + "\n")


if __name__ == "__main__":
    main()
