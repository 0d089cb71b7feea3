"""From a file to an instance, whichever of the known formats it is in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from solvers.composition.document import CompositionDocument
from solvers.composition.document import load as load_composition
from solvers.composition.pagination import read_pagination
from solvers.documents import DocumentError
from solvers.selection.document import SelectionDocument, load
from solvers.selection.pmedian import PMedian, load_pmedian

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 20


class UnreadableError(Exception):
    """A file that no instance can be made of; `lines` say why, each naming the file and the place."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)


def read_selection(source: str) -> tuple[SelectionDocument, PMedian | None]:
    """Read a selection instance: JSON if it begins with a brace, else an OR-Library p-median file.

    Parameters
    ----------
    source
        A path, or ``-`` for stdin.

    Returns
    -------
    The document, and the p-median problem where the file held one.

    Raises
    ------
    UnreadableError
        The file cannot be read, or is at fault.
    """
    data = _bytes(source)
    try:
        if _begins(data, b"{", b"["):
            return load(data), None
        median = load_pmedian(data)
        vertices = tuple(map(str, range(1, len(median.distances) + 1)))
        return SelectionDocument(instance=median.instance(), classes=vertices, candidates=vertices), median
    except DocumentError as error:
        raise UnreadableError(_lines(source, error)) from error


def read_composition(source: str, record: int | None) -> tuple[CompositionDocument, int]:
    """Read a composition instance: a document of its own, or one record of a pagination file.

    Parameters
    ----------
    source
        A path, or ``-`` for stdin.
    record
        Which record of a pagination file, from 0; the first by default.

    Returns
    -------
    The document, and how many records the file holds: 0 where it is no pagination file.

    Raises
    ------
    UnreadableError
        The file cannot be read, is at fault, or holds no such record.
    """
    data = _bytes(source)
    try:
        if not _begins(data, b"{"):
            instances = read_pagination(data)
        elif record is None:
            return load_composition(data), 0
        else:
            raise UnreadableError([f"error: {_called(source)}: is one instance, without records"])
    except DocumentError as error:
        raise UnreadableError(_lines(source, error)) from error
    if (record or 0) >= len(instances):
        what = f"error: {_called(source)}: has {len(instances)} records, the last is {len(instances) - 1}"
        raise UnreadableError([what if instances else f"error: {_called(source)}: has no records"])
    return CompositionDocument(instance=instances[record or 0]), len(instances)


def _begins(data: bytes, *characters: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(characters)


def _bytes(source: str) -> bytes:
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableError([f"error: {source}: not read: {why}"]) from error
    if not data.strip():
        raise UnreadableError([f"error: {_called(source)}: is empty"])
    return data


def _lines(source: str, error: DocumentError) -> list[str]:
    lines = [f"error: {fault.at(_called(source))}" for fault in error.faults[:_SHOWN]]
    total = len(error.faults) + error.more
    if total > 1:
        lines.append(f"{total} faults" + (f", {_SHOWN} shown" if total > _SHOWN else ""))
    return lines


def _called(source: str) -> str:
    return "stdin" if source == "-" else source
