"""Write tasks as rows of a parquet file, and put files of rows together."""

from __future__ import annotations

import hashlib
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from partition.errors import InputError
from partition.tasks.parquet import BINARY, PATH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SCHEMA = pa.schema([(PATH, pa.string()), (BINARY, pa.binary())])
_NOTHING = pa.schema([])
# the tars are compressed already, and no two are equal
_OPTIONS: dict[str, Any] = {"compression": "NONE", "use_dictionary": False, "write_statistics": [PATH]}


def write_rows(file: Path, rows: Sequence[tuple[str, bytes]]) -> None:
    """Write (path, archive) rows as one row group, flushed to the system.

    Raises
    ------
    OSError
        As the system says, a full disk for example.
    """
    names, archives = zip(*rows, strict=True) if rows else ((), ())
    pq.write_table(
        pa.table([pa.array(names, pa.string()), pa.array(archives, pa.binary())], SCHEMA), file, **_OPTIONS
    )


def join_rows(file: Path, parts: Iterable[Path], others: Iterable[Any] = (), schema: Any = _NOTHING) -> None:
    """Write one parquet file of the rows of `parts`, in order, a row group a part.

    Parameters
    ----------
    others
        For each part the other columns of its rows, of this schema; they come after the two of the tasks.

    Raises
    ------
    OSError
        As the system says, a full disk for example.
    """
    whole = pa.schema([*SCHEMA, *schema])
    with pq.ParquetWriter(file, whole, **_OPTIONS) as writer:
        for part, other in zip_longest(parts, others):
            table = pq.read_table(part, memory_map=False, use_threads=False, partitioning=None).cast(SCHEMA)
            for name in schema.names:
                table = table.append_column(schema.field(name), other.column(name))
            if table.num_rows:
                writer.write_table(table)


def rows_kept(batches: Iterable[Any], kept: Iterable[Sequence[bool]], schema: Any) -> Iterator[Any]:
    """Yield for each part of a dataset the rows of `batches` that were written, as a table.

    Parameters
    ----------
    kept
        For each part whether each of its rows was written.

    Raises
    ------
    InputError
        There are fewer rows than parts say.
    """
    held, stream = pa.table([[] for _ in schema], schema), iter(batches)
    for flags in kept:
        while held.num_rows < len(flags):
            batch = next(stream, None)
            if batch is None:
                raise InputError(
                    "the dataset has fewer rows than when it was read",
                    hint="run again when nothing writes to the dataset",
                )
            held = pa.concat_tables([held, pa.Table.from_batches([batch])])
        yield held.slice(0, len(flags)).filter(pa.array(flags, pa.bool_()))
        held = held.slice(len(flags))


def check_others(file: Path, expected: Iterable[Any], schema: Any) -> None:
    """Read the other columns of a parquet file back.

    Raises
    ------
    InputError
        They differ from the tables `expected`, one a part.
    """
    with pq.ParquetFile(file, buffer_size=1 << 16, pre_buffer=False, memory_map=False) as reader:
        groups = iter(range(reader.num_row_groups))
        number = 0
        for table in expected:
            if not table.num_rows:
                continue
            group = next(groups, None)
            if group is None or not _is_same(reader.read_row_group(group, columns=schema.names), table):
                raise _differs(file, number)
            number += table.num_rows


def digest_of(name: str, archive: bytes) -> str:
    """Return the SHA-256 of one row."""
    return hashlib.sha256(b"%d\0" % len(name.encode()) + name.encode() + archive).hexdigest()


def check_rows(file: Path, expected: Iterable[str]) -> int:
    """Read a parquet file back and return its number of rows.

    Parameters
    ----------
    expected
        What `digest_of` says of each row, in order.

    Raises
    ------
    InputError
        The file holds other rows than these.
    """
    number = 0
    digests = iter(expected)
    with pq.ParquetFile(file, buffer_size=1 << 16, pre_buffer=False, memory_map=False) as reader:
        for batch in reader.iter_batches(batch_size=16, columns=[PATH, BINARY], use_threads=False):
            for name, archive in zip(batch.column(PATH), batch.column(BINARY), strict=True):
                if digest_of(name.as_py(), archive.as_py()) != next(digests, None):
                    raise _differs(file, number)
                number += 1
    if next(digests, None) is not None:
        raise _differs(file, number)
    return number


def _is_same(left: Any, right: Any) -> bool:
    # not a number equals itself here
    return bool(left.equals(right)) or repr(left.to_pylist()) == repr(right.to_pylist())


def _differs(file: Path, number: int) -> InputError:
    return InputError(
        f"{file}[{number}]: read back, the row is not what was written",
        hint="the disk or its file system is at fault: remove the folder, check the disk, and rewrite again",
    )
