"""The folder beside an output in which it grows: locked while it does, and resumed after an interruption.

Nothing stands at the output before everything is written, read back and checked. Each part of the output
has a record beside it, written last, so that a part without a record counts as not written.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from partition.errors import InputError
from partition.rewrite.manifest import Reason, TaskRecord, line
from partition.rewrite.output.folders import remove
from partition.writing import TEMPORARY, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STATE = "state.json"
_LOCK = "lock"


class Header(BaseModel):
    """What a run is for; only a run for the same goes on with it."""

    model_config = ConfigDict(frozen=True)

    envfold_version: str
    output: str
    plan: str
    dataset: str
    channel: str
    caps: str


class State(BaseModel):
    """What was found out before the output could be written as it is.

    Parameters
    ----------
    refused
        Reasons by task, found while writing.
    payloads
        SHA-256 of the set-ups that the images must hold, sorted, by environment.
    plan
        SHA-256 of the plan in use where it is not the one given.
    resolved
        How often it was solved again.
    repository
        Whether the new repository on the Hub was asked for.
    publishing
        Whether everything is checked, and only the renaming is left.
    """

    model_config = ConfigDict(frozen=True)

    header: Header
    refused: dict[str, list[Reason]] = {}
    payloads: dict[str, list[str]] = {}
    plan: str | None = None
    resolved: int = 0
    repository: bool = False
    publishing: bool = False


class ChunkRecord(BaseModel):
    """One written part.

    Parameters
    ----------
    attempt
        Digest of everything that the part depends on beside the dataset.
    digests
        Of each written task, in order.
    refused
        Tasks whose refusal the survey did not know.
    payloads
        (environment, SHA-256, bytes, task) of the set-ups that the image must hold.
    """

    model_config = ConfigDict(frozen=True)

    attempt: str
    tasks: list[TaskRecord]
    digests: list[str]
    refused: list[str]
    payloads: list[tuple[str, str, int, str]]


_DIFFERENCES = {
    "envfold_version": "version of envfold",
    "output": "kind of output",
    "plan": "plan",
    "dataset": "dataset",
    "channel": "channel",
    "caps": "caps",
}


@dataclass(frozen=True, slots=True)
class Partial:
    """An output that is not finished.

    Parameters
    ----------
    folder
        Absolute path.
    lock
        File descriptor that holds the lock; workers inherit it.
    """

    folder: Path
    lock: int

    def state(self, header: Header) -> State:
        """Return where an earlier run for the same stopped, or the state of a new run.

        Raises
        ------
        InputError
            The folder belongs to a run for something else.
        """
        path = self.folder / _STATE
        hint = f"remove {self.folder} to start anew"
        try:
            state = State.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            names = (each.name for each in self.folder.iterdir())
            others = sorted(name for name in names if name != _LOCK and not name.startswith(TEMPORARY))
            if others:
                raise InputError(
                    f"{self.folder} is not of an interrupted run: it holds {others[0]}",
                    hint="move it away, or name another place",
                ) from None
            state = State(header=header)
            self.save(state)
        except (ValidationError, OSError) as error:
            raise InputError(f"{path}: not a state that envfold wrote", hint=hint) from error
        other = [
            name
            for field, name in _DIFFERENCES.items()
            if getattr(state.header, field) != getattr(header, field)
        ]
        if other:
            raise InputError(
                f"{self.folder} is of an interrupted run with another {', another '.join(other)}",
                hint=f"{hint}, or repeat that run to finish it",
            )
        return state

    def save(self, state: State) -> None:
        """Write the state, all of it or nothing."""
        write_atomically(self.folder / _STATE, line(state) + b"\n")

    def payload(self, digest: str) -> bytes:
        """Return a set-up that an image must hold."""
        return (self.folder / "payload" / digest).read_bytes()

    def remove(self) -> None:
        """Remove the folder, which is no longer needed."""
        # the lock goes last, so that nobody takes half a folder for an interrupted run
        for each in sorted(self.folder.iterdir(), key=lambda path: path.name in {_LOCK, _STATE}):
            if each.name != _LOCK:
                remove(each)
        (self.folder / _LOCK).unlink()
        self.folder.rmdir()


@contextmanager
def open_partial(folder: Path) -> Iterator[Partial]:
    """Make or enter the folder of an unfinished output, and keep every other process out of it.

    Raises
    ------
    InputError
        Another process is in it, or it cannot be made.
    """
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be made: {error.strerror or error}", hint="name another place for the output"
        ) from error
    try:
        if not _locked(lock, folder):
            raise InputError(
                f"another process is writing {folder.name.removesuffix('.partial')}",
                hint="wait until it has ended; two cannot write one output",
            )
        yield Partial(folder, lock)
    finally:
        os.close(lock)


def _locked(lock: int, folder: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # whoever held it may have finished and removed the folder meanwhile
        return os.path.samestat(os.fstat(lock), os.stat(folder / _LOCK))  # noqa: PTH116 - as the other
    except OSError:
        return False


def record_path(folder: Path, number: int) -> Path:
    """Return where the record of a part is."""
    return folder / "records" / f"{number:07}.json"


def read_record(folder: Path, number: int, attempt: str) -> ChunkRecord | None:
    """Return the record of a part that this attempt wrote; None where there is none."""
    with contextlib.suppress(OSError, ValidationError):
        record = ChunkRecord.model_validate_json(record_path(folder, number).read_bytes())
        if record.attempt == attempt:
            return record
    return None


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
