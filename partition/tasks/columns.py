"""Open a parquet file so that reading it holds a bounded part in memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyarrow import ArrowException

from partition.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BUFFER = 1 << 16


@contextmanager
def open_parquet(path: Path, *, where: str) -> Iterator[Any]:
    """Open `path` as a `pyarrow.parquet.ParquetFile`.

    Neither a whole row group nor a whole column chunk is buffered ahead of the batch being read.

    Raises
    ------
    InputError
        The file cannot be opened or is not parquet.
    """
    try:
        file = pq.ParquetFile(
            path, buffer_size=_BUFFER, pre_buffer=False, memory_map=False, page_checksum_verification=True
        )
        file.schema_arrow.names  # noqa: B018 - they are decoded here, where names that are not UTF-8 are caught
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        hint = "download or write the file again; a parquet file begins and ends with PAR1"
        raise InputError(f"{where} is not a readable parquet file: {error}", hint=hint) from error
    with file:
        yield file
