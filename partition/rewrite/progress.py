"""How a long job tells whoever waits; the command line shows it, a library call does not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


class Tick(Protocol):
    """Told that `n` more steps are done."""

    def __call__(self, n: int = 1) -> None:
        """Count `n` steps."""


class Progress(Protocol):
    """Told that a job starts, and ends when its context does."""

    def __call__(self, description: str, total: int | None = None) -> AbstractContextManager[Tick]:
        """Start a job."""


@contextmanager
def silent(description: str, total: int | None = None) -> Iterator[Tick]:  # noqa: ARG001 - `Progress`
    """Show nothing."""

    def tick(n: int = 1) -> None:
        """Count nothing."""

    yield tick
