"""Write the tasks of one part of an output, and read them back from where they were put."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from partition.errors import Fault, InputError
from partition.rewrite.output.folders import write_folder
from partition.rewrite.output.rows import check_rows, digest_of, write_rows
from partition.rewrite.output.tarball import pack
from partition.tasks.directory import Folder, Found
from partition.tasks.parquet import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from partition.tasks.model import Task, Tree

_SUFFIX = ".tar.gz"


@dataclass(frozen=True, slots=True)
class Written:
    """One task to be written.

    Parameters
    ----------
    id
        The task's id.
    name
        The value of the column ``path`` that it had; None where it was no row.
    files
        What it consists of now.
    """

    id: str
    name: str | None
    files: Tree


class Writer(Protocol):
    """Writes numbered parts below one folder."""

    @property
    def folder(self) -> Path:
        """Return the folder of the unfinished output."""

    def write(self, number: int, tasks: Sequence[Written]) -> None:
        """Write a part anew."""

    def read(self, number: int, tasks: Sequence[str]) -> Iterator[tuple[Task, str]]:
        """Yield the tasks of a part as they are read back, each with its digest."""

    def intact(self, number: int, tasks: Sequence[str], digests: Sequence[str]) -> bool:
        """Return whether a part is there as it was written."""


@dataclass(frozen=True, slots=True)
class RowsWriter:
    """Each part is a parquet file, later a row group of the one file."""

    folder: Path

    def part(self, number: int) -> Path:
        """Return the file of a part."""
        return self.folder / "parts" / f"{number:07}.parquet"

    def write(self, number: int, tasks: Sequence[Written]) -> None:
        """Write the rows; a row keeps the path that it had."""
        path = self.part(number)
        path.parent.mkdir(exist_ok=True)
        write_rows(path, [(each.name or each.id + _SUFFIX, pack(each.files)) for each in tasks])

    def read(self, number: int, tasks: Sequence[str]) -> Iterator[tuple[Task, str]]:  # noqa: ARG002
        """Yield the rows' tasks."""
        path = self.part(number)
        for row in read_rows(path, where=str(path)):
            digest = digest_of(row.name or "", row.archive or b"")
            for item in row.read():
                yield _sound(item), digest

    def intact(self, number: int, tasks: Sequence[str], digests: Sequence[str]) -> bool:
        """Return whether the file holds the rows of these digests."""
        try:
            return check_rows(self.part(number), digests) == len(tasks)
        except (InputError, OSError, ValueError):
            return False


@dataclass(frozen=True, slots=True)
class FoldersWriter:
    """A task is a directory below ``dataset``, by its id."""

    folder: Path

    @property
    def root(self) -> Path:
        """Return the directory that becomes the output."""
        return self.folder / "dataset"

    def write(self, number: int, tasks: Sequence[Written]) -> None:  # noqa: ARG002 - the ids say where
        """Write the directories."""
        for each in tasks:
            write_folder(self.root / each.id, each.files)

    def read(self, number: int, tasks: Sequence[str]) -> Iterator[tuple[Task, str]]:  # noqa: ARG002
        """Yield the directories' tasks."""
        for name in tasks:
            for item in Folder(self.root, Found(os.fsencode(name))).read():
                task = _sound(item)
                yield task, task.digest

    def intact(self, number: int, tasks: Sequence[str], digests: Sequence[str]) -> bool:
        """Return whether the directories have these digests."""
        try:
            return [digest for _, digest in self.read(number, tasks)] == [*digests]
        except InputError:
            return False


def _sound(item: Task | Fault) -> Task:
    if isinstance(item, Fault):
        raise InputError(
            "what was written cannot be read back",
            hint="this is a bug in envfold, or the disk is at fault",
            faults=[item],
        )
    return item
