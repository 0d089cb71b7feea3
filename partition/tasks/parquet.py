"""Stream tasks out of parquet files that hold one tar a row; nothing is extracted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partition.errors import Fault, InputError
from partition.tasks.archive import MAX_BYTES, read_archive
from partition.tasks.assembly import assemble
from partition.tasks.columns import open_parquet
from partition.tasks.paths import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from partition.tasks.model import Task

PATH = "path"
BINARY = "task_binary"
_ROWS = 16
_BATCH_BYTES = 16 << 20
_SUFFIXES = (".tar.gz", ".tgz", ".tar")


def check_columns(file: Any, where: str) -> None:
    """Refuse a file whose columns are not a string and a binary.

    Raises
    ------
    InputError
        Naming the file and the columns found.
    """
    schema = file.schema_arrow
    wanted = {
        PATH: (pa.types.is_string, pa.types.is_large_string),
        BINARY: (pa.types.is_binary, pa.types.is_large_binary),
    }
    for name, checks in wanted.items():
        if schema.names.count(name) != 1 or not any(check(schema.field(name).type) for check in checks):
            found = ", ".join(f"{field.name} ({field.type})" for field in schema) or "none"
            raise InputError(
                f"{where}: needs one column {PATH} (string) and one {BINARY} (binary); found {found}",
                hint="name the columns so, or give a spec table",
            )


@dataclass(frozen=True, slots=True)
class Row:
    """One row, not looked into yet.

    Parameters
    ----------
    path, archive
        The cells as bytes; None for null, and for an archive that is too large (`size` says how large).
    where
        The row's place in messages.
    size
        Bytes of the archive.
    """

    path: bytes | None
    archive: bytes | None
    where: str
    size: int

    @property
    def name(self) -> str | None:
        """Return the path as it is written."""
        return None if self.path is None else self.path.decode("utf-8", "backslashreplace")

    def read(self) -> Iterator[Task | Fault]:
        """Yield the row's task, or its faults."""
        return _task(self)


def read_parquet(path: Path, *, where: str) -> Iterator[Task | Fault]:
    """Yield the tasks and faults of one file in row order; arguments and errors are those of `read_rows`.

    A task's id is its ``path`` without ``.tar.gz``.
    """
    return chain.from_iterable(row.read() for row in read_rows(path, where=where))


def read_rows(path: Path, *, where: str) -> Iterator[Row]:
    """Yield the rows of one file; ``data.parquet[12]`` is row 12, from 0.

    At most a few rows are in memory at a time, whatever the size of the row groups.

    Raises
    ------
    InputError
        The file is not parquet, is damaged, or lacks a column.
    """
    number = -1
    with open_parquet(path, where=where) as file:
        check_columns(file, where)
        try:
            for batch in file.iter_batches(
                batch_size=_batch_size(file, where), columns=[PATH, BINARY], use_threads=False
            ):
                for name, archive in zip(batch.column(PATH), batch.column(BINARY), strict=True):
                    number += 1
                    yield _row(name, archive, f"{where}[{number}]")
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{where}: damaged after row {number}: {error}", hint="download or write the file again"
            ) from error
        if number + 1 != file.metadata.num_rows:
            what = f"has {number + 1} rows where it promises {file.metadata.num_rows}"
            raise InputError(f"{where}: damaged: {what}", hint="download or write the file again")


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """The columns of parquet files beside a task's own two.

    Parameters
    ----------
    files
        Each with its place in messages, in the dataset's order.
    schema
        All columns of all files; one that a file lacks is null there.
    """

    files: tuple[tuple[Path, str], ...]
    schema: Any

    def batches(self) -> Iterator[Any]:
        """Yield the columns of each row as record batches, a few rows at a time.

        Raises
        ------
        InputError
            A file is not readable any more.
        """
        for path, where in self.files:
            with open_parquet(path, where=where) as file:
                names = [name for name in file.schema_arrow.names if name in self.schema.names]
                try:
                    for batch in file.iter_batches(
                        batch_size=_batch_size(file, where), columns=names, use_threads=False
                    ):
                        yield self._completed(batch)
                except (pa.ArrowException, OSError) as error:
                    raise InputError(f"{where}: damaged: {error}", hint="write the file again") from error

    def _completed(self, batch: Any) -> Any:
        arrays = [
            batch.column(field.name)
            if field.name in batch.schema.names
            else pa.nulls(batch.num_rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def other_columns(files: Iterable[tuple[Path, str]]) -> OtherColumns | None:
    """Return what parquet files of tasks hold beside the tasks; None where that is nothing.

    Raises
    ------
    InputError
        A column stands twice in a file, or is of different types in two.
    """
    files = tuple(files)
    found: dict[str, tuple[Any, str]] = {}
    for path, where in files:
        with open_parquet(path, where=where) as file:
            schema = file.schema_arrow
        for field in schema:
            if field.name in {PATH, BINARY}:
                continue
            if schema.names.count(field.name) > 1:
                raise InputError(f"{where}: two columns are named {field.name}", hint="rename one of them")
            known, first = found.setdefault(field.name, (field.type, where))
            if known != field.type:
                raise InputError(
                    f"column {field.name} is {known} in {first} and {field.type} in {where}",
                    hint="give it one type, or leave it out",
                )
    if not found:
        return None
    return OtherColumns(files, pa.schema([(name, kind) for name, (kind, _) in found.items()]))


def _batch_size(file: Any, where: str) -> int:
    """Return how many rows to hold at a time, from what the file says of its row groups."""
    rows = _ROWS
    for index in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(index)
        average = group.total_byte_size // max(group.num_rows, 1)
        if average > MAX_BYTES:
            raise InputError(
                f"{where}: row group {index} holds {average:,} bytes a row, more than {MAX_BYTES:,}",
                hint="leave out the task that is so large",
            )
        rows = min(rows, max(1, _BATCH_BYTES // max(average, 1)))
    return rows


def _row(path: Any, archive: Any, where: str) -> Row:
    packed = archive.as_buffer() if archive.is_valid else None
    size = 0 if packed is None else packed.size
    return Row(
        path=path.as_buffer().to_pybytes() if path.is_valid else None,
        archive=None if packed is None or size > MAX_BYTES else packed.to_pybytes(),
        where=where,
        size=size,
    )


def _task(row: Row) -> Iterator[Task | Fault]:
    if row.size > MAX_BYTES:
        what = f"{BINARY} holds {row.size:,} bytes, more than {MAX_BYTES:,}"
        yield Fault(where=row.where, what=what, hint="leave the task out")
        return
    if row.path is None or row.archive is None:
        column = PATH if row.path is None else BINARY
        yield Fault(where=row.where, what=f"{column} is null", hint="write the row again")
        return
    try:
        identifier = _identifier(row.path, row.where)
        name = identifier.rpartition("/")[2]
        files = read_archive(row.archive, where=row.where, name=name, task=identifier)
    except InputError as error:
        yield from error.faults
        return
    yield from assemble(identifier, row.where, files)


def _identifier(raw: bytes, where: str) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    for suffix in _SUFFIXES:
        text = text.removesuffix(suffix)
    parts = text.split("/")
    if CONTROL.search(text) or any(part in {"", ".", ".."} for part in parts):
        fault = Fault(
            where=where,
            what=f"{PATH} {raw[:200]!r} cannot be a task's id",
            hint="write a relative path in UTF-8 without '..', as in repo/task-1.tar.gz",
        )
        raise InputError(f"{where} cannot be used", faults=[fault])
    return text
