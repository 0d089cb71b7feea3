"""The least that a rewrite of a parquet dataset does: read it, unpack every task, pack it, write it again.

Usage: ``python floor.py IN.parquet OUT.parquet``. One process, pyarrow and Python's own `tarfile`;
compressed as ``envfold rewrite`` does it, and nothing is read back.
"""

from __future__ import annotations

import io
import sys
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 48


def packed_again(data: bytes) -> bytes:
    """Return an archive of the same members."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as source,
        tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as target,
    ):
        for member in source:
            target.addfile(member, source.extractfile(member) if member.isreg() else None)
    return out.getvalue()


def main() -> None:
    source, out = sys.argv[1:]
    with (
        pq.ParquetFile(source) as file,
        pq.ParquetWriter(out, file.schema_arrow, compression="NONE") as writer,
    ):
        for batch in file.iter_batches(batch_size=ROWS, use_threads=False):
            paths, archives = batch.column("path"), batch.column("task_binary")
            again = pa.array([packed_again(each.as_py()) for each in archives], archives.type)
            writer.write_table(pa.table([paths, again], file.schema_arrow))


if __name__ == "__main__":
    main()
