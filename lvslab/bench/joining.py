"""Join a synthetic capture in a process of its own, whose memory is then nobody else's.

    python -m lvslab.bench.joining FRAMES

Prints as JSON: frames, seconds of processor time to join them, and the process's memory before and after in bytes.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from lvslab.bench.synthetic import FRAMES_PER_CONNECTION, capture_of
from lvslab.errors import KernelFault
from lvslab.walk import find_walks


def main() -> None:
    capture = capture_of(int(sys.argv[1]))
    before = present_bytes()
    begun = time.process_time()
    walks = find_walks(capture)
    seconds = time.process_time() - begun
    frames = len(capture.frames)
    if walks.unmatched or len(walks.conversations) != frames // FRAMES_PER_CONNECTION:
        raise KernelFault("the synthetic capture was not joined", found=f"{len(walks.unmatched)} unmatched walks")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps({"frames": frames, "seconds": seconds, "before_bytes": before, "most_bytes": most}))


def present_bytes() -> int:
    """Return the memory of this process (proc(5): statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
