"""Write tasks as rows of a parquet file, and put files of rows together."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from partition.errors import InputError
from partition.tasks.parquet import BINARY, PATH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SCHEMA = pa.schema([(PATH, pa.string()), (BINARY, pa.binary())])
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


def join_rows(file: Path, parts: Iterable[Path]) -> None:
    """Write one parquet file of the rows of `parts`, in order, a row group a part.

    Raises
    ------
    OSError
        As the system says, a full disk for example.
    """
    with pq.ParquetWriter(file, SCHEMA, **_OPTIONS) as writer:
        for part in parts:
            table = pq.read_table(part, memory_map=False, use_threads=False, partitioning=None)
            if table.num_rows:
                writer.write_table(table.cast(SCHEMA))


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
        for batch in reader.iter_batches(batch_size=16, use_threads=False):
            for name, archive in zip(batch.column(PATH), batch.column(BINARY), strict=True):
                if digest_of(name.as_py(), archive.as_py()) != next(digests, None):
                    raise _differs(file, number)
                number += 1
    if next(digests, None) is not None:
        raise _differs(file, number)
    return number


def _differs(file: Path, number: int) -> InputError:
    return InputError(
        f"{file}[{number}]: read back, the row is not what was written",
        hint="the disk or its file system is at fault: remove the folder, check the disk, and rewrite again",
    )
