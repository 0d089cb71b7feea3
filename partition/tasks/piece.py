"""A task before it is read: small enough to be handed to another process, which then reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.errors import Fault
    from partition.tasks.model import Task


class Piece(Protocol):
    """What holds at most one task; can be pickled."""

    @property
    def size(self) -> int:
        """Return the bytes that it holds in memory."""

    @property
    def name(self) -> str | None:
        """Return the value of the column ``path``, where the piece is a row of a parquet file."""

    def read(self) -> Iterator[Task | Fault]:
        """Yield its task, or every fault that keeps it from being one."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A task or fault that was read already."""

    item: Task | Fault

    @property
    def size(self) -> int:
        """Return 0: nobody knows, and such pieces are small."""
        return 0

    @property
    def name(self) -> str | None:
        """Return None: it is no row."""
        return None

    def read(self) -> Iterator[Task | Fault]:
        """Yield what it is."""
        yield self.item
