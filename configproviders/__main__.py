"""``python -m configproviders``, which is ``resolve-config``."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run ``resolve-config`` as a process of its own, and end with its exit code."""
    for deadly in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(deadly) is not signal.SIG_IGN:  # As under nohup.
            signal.signal(deadly, _end)
    try:
        from .cli import main  # Here, so that ctrl-C ends the imports too without a traceback.

        code = main()
    except KeyboardInterrupt:
        code = 130
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    if "threading" in sys.modules and sys.modules["threading"].active_count() > 1:
        os._exit(code)  # A lookup still waits in a thread, for which Python would wait too.
    sys.exit(code)


def _end(number: int, _frame: object) -> NoReturn:
    # As an exception, so that no half-written file is left behind.
    sys.exit(128 + number)


if __name__ == "__main__":
    run()
