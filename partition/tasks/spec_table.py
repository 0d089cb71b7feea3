"""Read a spec table (CSV, JSONL, parquet): one row a task, where there are no Dockerfiles yet."""

from __future__ import annotations

import csv
import difflib
import json
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from pyarrow import ArrowException

from partition.errors import Fault, InputError
from partition.tasks.columns import open_parquet
from partition.tasks.spec_row import COLUMNS, REQUIRED, TASK_ID, read_row
from partition.tasks.text import not_utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from partition.tasks.model import Task

_MAX_LINE = 1 << 24
_ROWS = 256


def read_csv(path: Path, *, where: str) -> Iterator[Task | Fault]:
    """Yield the tasks and faults of a CSV table; a fault names the row's first physical line.

    Lists are JSON arrays, or items separated by ``;``.

    Raises
    ------
    InputError
        The file cannot be opened, or a column is missing.
    """
    with _open(path, where) as stream:
        lines = _Lines(stream, where)
        rows = csv.reader(lines, strict=True)
        header: list[str] | None = None
        while True:
            lines.begin()
            try:
                row = next(rows, None)
            except csv.Error as error:
                yield Fault(where=lines.where, what=f"not CSV: {error}", hint="check the quotes")
                continue
            if row is None:
                break
            if (bad := lines.fault()) is not None:
                yield bad
            elif header is None:
                header = [name.removeprefix("\ufeff").strip() for name in row]
                yield from _check_columns(header, lines.where, required=REQUIRED)
            elif len(row) == len(header):
                yield from _row(dict(zip(header, row, strict=True)), lines.where)
            elif row:
                what = f"has {len(row)} cells where the header has {len(header)}"
                yield Fault(where=lines.where, what=what, hint="quote cells that hold a comma")
        if header is None:
            raise InputError(f"{where} is empty", hint=_known())


def read_jsonl(path: Path, *, where: str) -> Iterator[Task | Fault]:
    """Yield the tasks and faults of a table with one JSON object a line; an absent key says nothing.

    Raises
    ------
    InputError
        The file cannot be opened, or its first row has no ``task_id`` or no ``repo``.
    """
    seen: set[str] = set()
    with _open(path, where) as stream:
        lines = _Lines(stream, where)
        while True:
            lines.begin()
            text = next(lines, None)
            if text is None:
                break
            if (bad := lines.fault()) is not None:
                yield bad
                continue
            if not text.strip():
                continue
            try:
                row = json.loads(text.removeprefix("\ufeff"))
            except (ValueError, RecursionError) as error:
                yield Fault(where=lines.where, what=f"not JSON: {error}", hint="write one object a line")
                continue
            if not isinstance(row, dict):
                yield Fault(where=lines.where, what="is not a JSON object", hint="write one object a line")
                continue
            required = () if seen else REQUIRED[:2]
            yield from _check_columns([key for key in row if key not in seen], lines.where, required=required)
            seen.update(row)
            yield from _row(row, lines.where)
        if not seen:
            raise InputError(f"{where} holds no row", hint=_known())


def is_spec_table(file: Any) -> bool:
    """Return whether an open parquet file looks like a spec table, not like tasks with more columns."""
    names = file.schema_arrow.names
    return "task_binary" not in names and (TASK_ID in names or "repo" in names)


def read_parquet_table(path: Path, *, where: str) -> Iterator[Task | Fault]:
    """Yield the tasks and faults of a parquet table; ``specs.parquet[12]`` is row 12, from 0.

    Raises
    ------
    InputError
        The file is not parquet, is damaged, or a column is missing.
    """
    with open_parquet(path, where=where) as file:
        names = file.schema_arrow.names
        yield from _check_columns(names, where, required=REQUIRED)
        known = [name for name in names if name in COLUMNS]
        number = -1
        try:
            for batch in file.iter_batches(batch_size=_ROWS, columns=known, use_threads=False):
                for index in range(batch.num_rows):
                    number += 1
                    place = f"{where}[{number}]"
                    try:
                        row = {name: batch.column(name)[index].as_py() for name in known}
                    except UnicodeDecodeError as error:
                        what = f"byte {error.object[error.start]:#04x} is not UTF-8"
                        yield Fault(where=place, what=what, hint="write text columns as UTF-8")
                        continue
                    yield from _row(row, place)
        except (ArrowException, OSError) as error:
            hint = "download or write the file again"
            raise InputError(f"{where}: damaged after row {number}: {error}", hint=hint) from error


class _Lines:
    """The lines of one record after the other, with their place in the file."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._raw: list[bytes] = []
        self._line = 1
        self._offset = 0

    def begin(self) -> None:
        """Start a new record."""
        self._line += len(self._raw)
        self._offset += sum(map(len, self._raw))
        self._raw.clear()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        raw = self._stream.readline(_MAX_LINE)
        if not raw:
            raise StopIteration
        self._raw.append(raw)
        if len(raw) == _MAX_LINE:
            raise InputError(f"{self.where}: the line is longer than {_MAX_LINE >> 20} MiB")
        return raw.decode("utf-8", "surrogateescape")

    @property
    def where(self) -> str:
        """The record's first line, as messages name it."""
        return f"{self._name}:{self._line}"

    def fault(self) -> Fault | None:
        """Return the fault of a record that is not UTF-8."""
        record = b"".join(self._raw)
        try:
            record.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._line + record.count(b"\n", 0, error.start)
            offset = self._offset + error.start
            return not_utf8(record[error.start], offset=offset, line=line, where=self._name)
        return None


def _open(path: Path, where: str) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror}") from error


def _row(cells: Mapping[str, Any], where: str) -> Iterator[Task | Fault]:
    try:
        yield read_row(cells, where=where)
    except InputError as error:
        yield from error.faults


def _check_columns(names: Iterable[str], where: str, *, required: tuple[str, ...]) -> Iterator[Fault]:
    names = list(names)
    missing = [name for name in required if name not in names]
    if missing:
        found = ", ".join(map(repr, names)) or "none"
        raise InputError(f"{where}: no column {', '.join(missing)}; found {found}", hint=_known())
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{where}: {count} columns are called {name!r}", hint="keep one of them")
        if name not in COLUMNS:
            close = difflib.get_close_matches(name, COLUMNS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known columns: {', '.join(COLUMNS)}"
            yield Fault(where=where, what=f"column {name!r} is not read", hint=hint)


def _known() -> str:
    optional = ", ".join(name for name in COLUMNS if name not in REQUIRED)
    return f"a spec table has the columns {', '.join(REQUIRED)}, and may have {optional}"
