"""A built-in server as a program of its own, for a container that has no agent.

Usage: ``python3 -m lvslab.agent.serve NODE KIND ADDRESS PORT ANSWER_BYTES``; it serves until it is ended.
"""

from __future__ import annotations

import selectors
import sys
from collections.abc import Sequence

from lvslab.agent.servers import Listener, ServerGroup, open_listener


def main(arguments: Sequence[str]) -> None:
    node, kind, address, port, answer_bytes = arguments
    listener = Listener(node, kind, address, int(port), int(answer_bytes))
    selector = selectors.DefaultSelector()
    ServerGroup(selector, [(listener, open_listener(listener))])
    while True:
        for key, events in selector.select():
            key.data(events)


if __name__ == "__main__":
    main(sys.argv[1:])
