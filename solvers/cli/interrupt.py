"""Ending at once when somebody interrupts, also while a solver runs outside Python."""

from __future__ import annotations

import os
import signal
import threading

from solvers.cli.output import say

INTERRUPTED = 130
"""What a shell reports for a process that SIGINT ended (128 + 2)."""


def end_on_interrupt() -> None:
    """From now on end this process with status 130 as soon as SIGINT comes, unless it is ignored.

    Python's own handler waits for native code to return, and HiGHS cannot be told to stop. CP-SAT puts a
    handler of its own in place, which makes the answer look as if its time had been up, and which aborts
    the process where another thread gets the signal. So the signal is blocked here, and in all threads that
    are started later, and one thread waits for it. To be called before the numerical libraries are
    loaded, because they start threads.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        threading.Thread(target=_end, daemon=True).start()


def _end() -> None:
    signal.sigwait({signal.SIGINT})
    say("interrupted")
    os._exit(INTERRUPTED)
