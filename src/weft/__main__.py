"""`python -m weft` is `weft`, and the installed command begins here too."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it with code 130 and without a traceback, also while it is being imported."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        # An exception could come up anywhere in a library that is being imported, and not every library passes it on.
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    from weft.cli.main import main as run

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
