"""Stream tasks out of parquet files that hold one tar a row; nothing is extracted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from partition.errors import Fault, InputError
from partition.tasks.archive import MAX_BYTES, read_archive
from partition.tasks.assembly import assemble
from partition.tasks.columns import open_parquet
from partition.tasks.paths import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def read_parquet(path: Path, *, where: str) -> Iterator[Task | Fault]:
    """Yield the tasks and faults of one file in row order; ``data.parquet[12]`` is row 12, from 0.

    A task's id is its ``path`` without ``.tar.gz``. At most a few rows are in memory at a time,
    whatever the size of the row groups.

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
                    yield from _task(name, archive, f"{where}[{number}]")
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{where}: damaged after row {number}: {error}", hint="download or write the file again"
            ) from error
        if number + 1 != file.metadata.num_rows:
            what = f"has {number + 1} rows where it promises {file.metadata.num_rows}"
            raise InputError(f"{where}: damaged: {what}", hint="download or write the file again")


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


def _task(path: Any, archive: Any, where: str) -> Iterator[Task | Fault]:
    if not path.is_valid or not archive.is_valid:
        column = BINARY if path.is_valid else PATH
        yield Fault(where=where, what=f"{column} is null", hint="write the row again")
        return
    packed = archive.as_buffer()
    if packed.size > MAX_BYTES:
        what = f"{BINARY} holds {packed.size:,} bytes, more than {MAX_BYTES:,}"
        yield Fault(where=where, what=what, hint="leave the task out")
        return
    try:
        identifier = _identifier(path.as_buffer().to_pybytes(), where)
        name = identifier.rpartition("/")[2]
        files = read_archive(packed.to_pybytes(), where=where, name=name, task=identifier)
    except InputError as error:
        yield from error.faults
        return
    yield from assemble(identifier, where, files)


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
