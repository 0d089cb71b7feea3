"""Recognise what holds a dataset, and read it as one stream of tasks and faults."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError
from partition.tasks.columns import open_parquet
from partition.tasks.directory import Folder, find_files, find_tasks
from partition.tasks.embedded import TABLES, embedded_table
from partition.tasks.parquet import check_columns, other_columns, read_rows
from partition.tasks.piece import Ready
from partition.tasks.spec_table import is_spec_table, read_csv, read_jsonl, read_parquet_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from partition.tasks.model import Task
    from partition.tasks.parquet import OtherColumns
    from partition.tasks.piece import Piece

_TABLES = {".csv": read_csv, ".jsonl": read_jsonl, ".ndjson": read_jsonl}


class SourceKind(StrEnum):
    """What a dataset was read from."""

    DIRECTORY = "directory"
    PARQUET = "parquet"
    HUB = "hub"
    SPEC_TABLE = "spec table"
    EMBEDDED = "embedded"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset that can be read any number of times.

    Parameters
    ----------
    source
        As the user named it.
    kind
        What it turned out to be.
    revision
        The commit that a Hub repository was resolved to; None elsewhere.
    size
        Number of tasks where it is cheap to know; None elsewhere.
    pieces
        Starts a fresh stream of tasks that are not read yet.
    other_columns
        Finds what parquet files hold beside the tasks, a row a piece; None where that is nothing.
    """

    source: str
    kind: SourceKind
    revision: str | None = None
    size: int | None = None
    pieces: Callable[[], Iterator[Piece]] = field(repr=False, compare=False)
    other_columns: Callable[[], OtherColumns | None] = field(default=lambda: None, repr=False, compare=False)

    def tasks(self) -> Iterator[Task | Fault]:
        """Yield tasks and faults in the dataset's order; a task whose id was seen becomes a fault.

        Raises
        ------
        InputError
            The source became unreadable as a whole, or holds nothing.
        """
        places: dict[str, str] = {}
        nothing = True
        for item in chain.from_iterable(piece.read() for piece in self.pieces()):
            nothing = False
            if isinstance(item, Fault) or item.id not in places:
                yield item
            else:
                what = f"the task id {item.id!r} was used before, by {places[item.id]}"
                yield Fault(where=item.where, what=what, hint="give it an id of its own", task=item.id)
            if not isinstance(item, Fault):
                places.setdefault(item.id, item.where)
        if nothing:
            raise InputError(f"{self.source} holds no task", hint="it was read to its end; check the source")


def read_all(dataset: Dataset, *, strict: bool = False) -> tuple[list[Task], tuple[Fault, ...]]:
    """Read a whole dataset; every task's files stay in memory where a parquet file holds them.

    Parameters
    ----------
    strict
        Whether any fault is an error.

    Raises
    ------
    InputError
        `strict` and there are faults (all of them are on the error), or there is no task at all.
    """
    tasks: list[Task] = []
    faults: list[Fault] = []
    for item in dataset.tasks():
        if isinstance(item, Fault):
            faults.append(item)
        else:
            tasks.append(item)
    if faults and (strict or not tasks):
        raise InputError(
            f"{dataset.source}: {len(faults)} fault{'s' * (len(faults) > 1)}"
            + ("" if tasks else " and no task that can be read"),
            hint="correct them" + (", or go on without these tasks by leaving out --strict" if tasks else ""),
            faults=faults,
        )
    return tasks, tuple(faults)


def open_dataset(source: str, *, endpoint: str | None = None) -> Dataset:
    """Recognise `source` and return its dataset; little is read yet.

    Parameters
    ----------
    source
        The name of an embedded dataset, ``hf://datasets/ORG/NAME[@REV]``, a directory of tasks, a
        folder of parquet files, or a parquet, CSV or JSONL file. An embedded name wins over a
        path; write ``./swegym`` for the path.
    endpoint
        Address of the Hub; by default ``HF_ENDPOINT``.

    Raises
    ------
    InputError
        There is nothing of that name, or nothing that holds tasks.
    """
    if source in TABLES:
        table = embedded_table(source)
        return Dataset(
            source=source, kind=SourceKind.EMBEDDED, pieces=lambda: map(Ready, read_csv(table, where=source))
        )
    if source.startswith("hf://"):
        return _open_repository(source, endpoint)
    path = Path(source)
    if path.is_dir():
        return _open_directory(source, path)
    if path.is_file():
        return _open_files(source, [path])
    close = difflib.get_close_matches(source, TABLES, n=1)
    raise InputError(
        f"{source}: no such file or directory" if not path.exists() else f"{source}: not a regular file",
        hint=(f"did you mean {close[0]}? " if close else "")
        + f"embedded datasets: {', '.join(TABLES)}; on the Hub: hf://datasets/ORG/NAME",
    )


def _open_directory(source: str, root: Path) -> Dataset:
    found = find_tasks(root)
    if found:
        return Dataset(
            source=source,
            kind=SourceKind.DIRECTORY,
            size=len(found),
            pieces=lambda: (Folder(root, each) for each in found),
        )
    files = find_files(root, ".parquet")
    if not files:
        raise InputError(
            f"{source} holds no task",
            hint="looked for directories with instruction.md, at any depth, and for .parquet files",
        )
    return _open_files(source, files)


def _open_files(source: str, files: list[Path]) -> Dataset:
    kinds: dict[SourceKind, list[str]] = {}
    rows: list[int | None] = []
    for path in files:
        kind, count = _recognise(path, str(path))
        kinds.setdefault(kind, []).append(path.name)
        rows.append(count)
    if len(kinds) > 1:
        both = "; ".join(f"{kind}: {names[0]}" for kind, names in kinds.items())
        raise InputError(f"{source} mixes tasks and spec tables ({both})", hint="name one of the files")
    return Dataset(
        source=source,
        kind=next(iter(kinds)),
        size=None if None in rows else sum(filter(None, rows)),
        pieces=lambda: chain.from_iterable(_read_file(path, str(path)) for path in files),
        other_columns=lambda: _other_columns((path, str(path)) for path in files),
    )


def _recognise(path: Path, where: str) -> tuple[SourceKind, int | None]:
    """Return what a file holds, and its number of rows where that is cheap to know."""
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        return SourceKind.SPEC_TABLE, None
    if suffix != ".parquet":
        raise InputError(
            f"{where}: not a kind of file that holds tasks",
            hint="give a directory of tasks, or a .parquet, .csv or .jsonl file",
        )
    with open_parquet(path, where=where) as file:
        if is_spec_table(file):
            return SourceKind.SPEC_TABLE, file.metadata.num_rows
        check_columns(file, where)
        return SourceKind.PARQUET, file.metadata.num_rows


def _read_file(path: Path, where: str) -> Iterator[Piece]:
    kind, _ = _recognise(path, where)
    if kind is SourceKind.PARQUET:
        return read_rows(path, where=where)
    return map(Ready, _TABLES.get(path.suffix.lower(), read_parquet_table)(path, where=where))


def _open_repository(source: str, endpoint: str | None) -> Dataset:
    # its library takes as long to import as everything else here
    from partition.tasks.hub import (  # noqa: PLC0415
        download_repository,
        fetch,
        find_repository,
        find_repository_tasks,
    )

    repository = find_repository(source, endpoint=endpoint)
    tasks = find_repository_tasks(repository)
    if tasks:
        return Dataset(
            source=source,
            kind=SourceKind.HUB,
            revision=repository.commit,
            size=len(tasks),
            pieces=lambda: download_repository(repository, tasks),
        )
    files = repository.ending_in(".parquet") or repository.ending_in(*_TABLES)
    if not files:
        raise InputError(
            f"{source} holds no task",
            hint="looked for directories with instruction.md and for .parquet, .csv and .jsonl files",
        )
    return Dataset(
        source=source,
        kind=SourceKind.HUB,
        revision=repository.commit,
        pieces=lambda: chain.from_iterable(
            _read_file(fetch(repository, path), f"{source}/{path}") for path in files
        ),
        other_columns=lambda: _other_columns((fetch(repository, path), f"{source}/{path}") for path in files),
    )


def _other_columns(files: Iterable[tuple[Path, str]]) -> OtherColumns | None:
    listed = list(files)
    if any(_recognise(path, where)[0] is not SourceKind.PARQUET for path, where in listed):
        return None
    return other_columns(listed)
