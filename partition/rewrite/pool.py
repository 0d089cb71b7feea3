"""Run one function over many chunks on several processors; the results come in the chunks' order.

Processes of our own instead of `multiprocessing`: nothing is forked while threads run, and the caller's
main module is not imported again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

_Chunk_contra = TypeVar("_Chunk_contra", contravariant=True)
_Result_co = TypeVar("_Result_co", covariant=True)
_LENGTH = struct.Struct(">Q")
_PACKAGES = Path(__file__).resolve().parents[2]
_AHEAD = 2
"""Chunks handed out for each worker beyond the one that it works on, at most."""


class Job(Protocol, Generic[_Chunk_contra, _Result_co]):
    """What is done with each chunk; can be pickled, and so can its chunks and results."""

    def __call__(self, chunk: _Chunk_contra, /) -> _Result_co:
        """Do it."""


class WorkerDiedError(Exception):
    """A worker process ended by itself: it was killed, or memory ran out."""


class Pool:
    """Workers that stay between jobs; with a single one everything is done in this process.

    Parameters
    ----------
    workers
        Number of processes.
    keep
        File descriptors that the workers inherit: a lock is then held until the last of them ends.
    """

    def __init__(self, workers: int, *, keep: tuple[int, ...] = ()) -> None:
        self._workers = [_Worker(keep) for _ in range(workers)] if workers > 1 else []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self, job: Job[_Chunk_contra, _Result_co], chunks: Iterable[_Chunk_contra]
    ) -> Iterator[_Result_co]:
        """Yield the result of each chunk, in order; a bounded number of chunks is held.

        Raises
        ------
        WorkerDiedError
            A worker was killed.
        Exception
            Whatever `job` raises.
        """
        if not self._workers:
            yield from map(job, chunks)
            return
        encoded = pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            worker.new_job(encoded)
            idle.put(worker)

        def work(chunk: _Chunk_contra) -> Any:
            worker = idle.get()
            try:
                return worker.ask(chunk)
            finally:
                idle.put(worker)

        pending: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(len(self._workers)) as threads:
            try:
                for chunk in chunks:
                    pending.append(threads.submit(work, chunk))
                    if len(pending) > _AHEAD * len(self._workers):
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()


class _Worker:
    """One process of `partition.rewrite.worker`."""

    def __init__(self, keep: tuple[int, ...]) -> None:
        places = [os.fspath(_PACKAGES), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            # -P: the folder where the user stands is no place to import from
            [sys.executable, "-P", "-m", "partition.rewrite.worker"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=keep,
        )

    def new_job(self, encoded: bytes) -> None:
        self._exchange(encoded)

    def ask(self, chunk: Any) -> Any:
        succeeded, value = self._exchange(pickle.dumps((chunk,), pickle.HIGHEST_PROTOCOL))
        if not succeeded:
            raise value
        return value

    def end(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def _exchange(self, message: bytes) -> Any:
        assert self._process.stdin is not None  # noqa: S101 - asked for above
        assert self._process.stdout is not None  # noqa: S101
        try:
            send(self._process.stdin, message)
            answer = receive(self._process.stdout)
        except OSError:
            answer = None
        if answer is None:
            status = self._process.wait()
            raise WorkerDiedError(f"a worker process ended with status {status}")
        return pickle.loads(answer)  # noqa: S301 - our own process says it


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message."""
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None where the other side has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None
