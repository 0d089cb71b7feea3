"""A process of `partition.rewrite.pool`: jobs and chunks on stdin, results on stdout, pickled."""

from __future__ import annotations

import os
import pickle
import signal
import sys

from partition.rewrite.pool import receive, send


def main() -> None:
    """Answer until stdin ends."""
    # an interrupt is the parent's to handle; it ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # whatever a library prints must not get between the answers
    os.dup2(2, 1)
    job = None
    while (message := receive(requests)) is not None:
        received = pickle.loads(message)  # noqa: S301 - our own parent says it
        if callable(received):
            job = received
            send(answers, pickle.dumps(None))
            continue
        try:
            assert job is not None  # noqa: S101 - the pool sends it first
            answer = pickle.dumps((True, job(*received)), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            answer = _failure(error)
        send(answers, answer)


def _failure(error: Exception) -> bytes:
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)  # noqa: S301 - made in the line above
    except Exception:  # noqa: BLE001 - an exception that cannot be pickled is told in words
        answer = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return answer


if __name__ == "__main__":
    main()
