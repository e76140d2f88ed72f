"""Where the `lvslab` command begins: before anything is imported that takes time."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command and leave with its exit status.

    Until it can say that it was interrupted, an interruption just ends it: Python would show a traceback.
    """
    by_default = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from lvslab.cli.main import main as run

    signal.signal(signal.SIGINT, by_default)
    try:
        run()
    finally:
        # All is done: what comes now cannot undo it, and must not say so.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
