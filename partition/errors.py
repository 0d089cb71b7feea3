"""Every error envfold can raise, every exit status, and the faults found in input."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ExitStatus(IntEnum):
    """What the process tells its caller."""

    OK = 0
    INPUT = 1
    """The input or the data is at fault, or the problem is infeasible."""
    USAGE = 2
    BUG = 3
    CAP = 4
    """A provider cap would be exceeded."""
    FLOOR = 5
    """The oracle yield is below the floor."""
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with the input: what, where, why, and what to do about it.

    Parameters
    ----------
    where
        The place as a person would name it: ``tasks/foo/environment/Dockerfile:12``,
        ``data.parquet[12]``, ``specs.csv:7``.
    what
        One sentence without a final full stop.
    hint
        What to do next; empty where nothing can be done.
    task
        The id of the task at fault, or None where the fault is not one task's.
    """

    where: str
    what: str
    hint: str = ""
    task: str | None = None

    def __str__(self) -> str:
        """Return ``where: what (hint)`` on one line."""
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


class EnvfoldError(Exception):
    """Base of every expected error; carries all the faults that led to it."""

    status = ExitStatus.INPUT

    def __init__(self, message: str, *, hint: str = "", faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.faults = tuple(faults)


class InputError(EnvfoldError):
    """The dataset, a document or a table cannot be used."""


class InfeasibleError(EnvfoldError):
    """No plan satisfies the limits."""


class CapExceededError(EnvfoldError):
    """A provider cap would be exceeded; never a warning, and nothing turns it off."""

    status = ExitStatus.CAP


class UsageError(EnvfoldError):
    """The command was called in a way that cannot mean anything."""

    status = ExitStatus.USAGE
