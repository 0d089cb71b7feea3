"""Make task directories, archives and parquet files for the tests of this folder."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILES = {
    "instruction.md": b"Do it.\n",
    "task.toml": b'version = "1.0"\n',
    "environment/Dockerfile": b"FROM python:3.11-slim\n",
    "tests/test.sh": b"exit 0\n",
}


def write_task(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    """Write a task directory."""
    for path, data in (FILES if files is None else files).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """Return one member of an archive; `fields` are attributes of its header."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def tar(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz", **options: object) -> bytes:
    """Return an archive of these members, in order."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, **options) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def task_tar(*more: tuple[tarfile.TarInfo, bytes], prefix: str = "", mode: str = "w:gz") -> bytes:
    """Return an archive of a sound task with more members behind."""
    return tar(*(member(prefix + path, data) for path, data in FILES.items()), *more, mode=mode)


def write_parquet(path: Path, rows: Iterable[tuple[str | None, bytes | None]], **options: object) -> Path:
    """Write a dataset of (path, task_binary) rows."""
    names, archives = zip(*rows, strict=True)
    schema = pa.schema([("path", pa.string()), ("task_binary", pa.binary())])
    table = pa.table({"path": list(names), "task_binary": list(archives)}, schema)
    pq.write_table(table, path, **options)
    return path
