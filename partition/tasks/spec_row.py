"""Turn the cells of one row of a spec table into a task."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from partition.errors import Fault, InputError
from partition.tasks.model import Spec, Task
from partition.tasks.paths import CONTROL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TASK_ID = "task_id"
REQUIRED = (TASK_ID, "repo", "version", "python", "apt", "pip")
OPTIONAL = ("base_commit", "conda", "requirement_files", "created_at", "outcome", "outcomes")
COLUMNS = REQUIRED + OPTIONAL

PYTHONS = ("2.7", *(f"3.{minor}" for minor in range(5, 16)))
OUTCOMES = ("pass", "fail", "unlisted", "unverified", "network", "flaky", "missing")
OWN_ENVIRONMENT = "own environment"
"""The setting of a lone ``outcome`` cell."""

_REPO = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
# Debian Policy 5.6.1 (package names), 5.6.12 (versions); ``:arch`` and ``/release`` as apt-get(8).
_APT = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*(?::[a-z0-9-]+)?(?:=[A-Za-z0-9.+:~*-]+|/[a-z0-9.-]+)?")
_MARKER = re.compile(
    r"\s*\(?\s*(?:python_(?:full_)?version|os_name|sys_platform|platform_\w+|implementation_\w+|extra)\b"
)


class _CellError(ValueError):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


def read_row(cells: Mapping[str, Any], *, where: str) -> Task:
    """Read one row; a cell that is absent, None, NaN or blank says nothing.

    Parameters
    ----------
    cells
        Values by column: text, or what JSON and parquet hold (lists, dates, numbers).
    where
        The row's place in messages.

    Raises
    ------
    InputError
        With one fault for each cell at fault.
    """
    identifier = cells.get(TASK_ID)
    task = identifier if isinstance(identifier, str) and not CONTROL.search(identifier) else None
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for column, parse in _PARSERS.items():
        cell = cells.get(column)
        blank = cell is None or (isinstance(cell, float) and math.isnan(cell)) or cell == ""
        try:
            values[column] = parse(None if blank else cell)
        except _CellError as error:
            faults.append(Fault(where=where, what=f"{column}: {error}", hint=error.hint, task=task))
    if faults:
        raise InputError(f"{where} cannot be used", faults=faults)
    outcome = values.pop("outcome")
    if outcome:
        values["outcomes"] = tuple(sorted({*values["outcomes"], (OWN_ENVIRONMENT, outcome)}))
    return Task(id=values.pop(TASK_ID), where=where, spec=Spec(**values))


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool | float) or not isinstance(cell, str | int):
        raise _CellError(f"{cell!r} is not text", "write it in quotes (the number 3.10 is 3.1)")
    text = str(cell).strip()
    if CONTROL.search(text):
        raise _CellError(f"{text!r} holds a character that cannot be printed", "remove it")
    return text


def _task_id(cell: object) -> str:
    text = _text(cell)
    if not text:
        raise _CellError("is missing", "give each task an id of its own")
    return text


def _repo(cell: object) -> str:
    text = _text(cell)
    if not _REPO.fullmatch(text) or ".." in text.split("/"):
        what = f"{text!r} is not a repository" if text else "is missing"
        raise _CellError(what, "write owner/name, as in pandas-dev/pandas")
    return text


def _commit(cell: object) -> str | None:
    text = _text(cell)
    if text and not _COMMIT.fullmatch(text):
        raise _CellError(f"{text!r} is not a commit", "write the hexadecimal id, 7 to 64 digits")
    return text or None


def _python(cell: object) -> str | None:
    text = str(cell) if isinstance(cell, float) else _text(cell)
    if not text:
        return None
    match = re.fullmatch(r"(\d+\.\d+)(?:\.\d+)?", text, re.ASCII)
    if match is None or match[1] not in PYTHONS:
        hint = "a number lost its zero: write 3.10 in quotes" if text == "3.1" else "write it as in 3.9"
        raise _CellError(f"{text!r} is not a Python version (2.7, 3.5 to {PYTHONS[-1]})", hint)
    return match[1]


def _items(cell: object) -> tuple[str, ...]:
    if isinstance(cell, str):
        cell = _json_list(cell) if cell.lstrip().startswith("[") else _split(cell)
    if not isinstance(cell, list | tuple | None):
        raise _CellError(f"{cell!r} is not a list", 'write a JSON array: ["numpy<2", "pandas"]')
    return tuple(sorted({text for text in map(_text, cell or ()) if text}))


def _json_list(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise _CellError(f"{cell[:80]!r} is not a JSON array", 'write ["numpy<2", "pandas"]') from None


def _split(cell: str) -> list[str]:
    items = cell.split(";")
    for item in items:
        if _MARKER.match(item):
            raise _CellError(
                f"';' separates items, so {item.strip()!r} would be a package",
                "write a JSON array where a requirement has a marker: [\"numpy; python_version<'3.9'\"]",
            )
    return items


def _apt(cell: object) -> tuple[str, ...]:
    items = _items(cell)
    for item in items:
        if not _APT.fullmatch(item):
            raise _CellError(f"{item!r} is not a Debian package", "write name, or name=version")
    return items


def _date(cell: object) -> str | None:
    if isinstance(cell, datetime | date):
        moment: date = cell
    else:
        text = _text(cell)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise _CellError(f"{text!r} is not a date", "write it as in 2023-04-16") from None
    if isinstance(moment, datetime):
        moment = (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    return moment.isoformat()


def _outcome(cell: object) -> str:
    text = _text(cell)
    if text and text not in OUTCOMES:
        raise _CellError(f"{text!r} is not an outcome", f"known: {', '.join(OUTCOMES)}")
    return text


def _outcomes(cell: object) -> tuple[tuple[str, str], ...]:
    pairs = []
    for item in _items(cell):
        setting, equals, outcome = item.rpartition("=")
        if not equals or not setting.strip():
            raise _CellError(f"{item!r} is not an outcome", "write setting=outcome")
        pairs.append((setting.strip(), _outcome(outcome)))
    return tuple(sorted(pairs))


_PARSERS: dict[str, Callable[[object], Any]] = {
    TASK_ID: _task_id,
    "repo": _repo,
    "version": _text,
    "base_commit": _commit,
    "python": _python,
    "apt": _apt,
    "pip": _items,
    "conda": _items,
    "requirement_files": _items,
    "created_at": _date,
    "outcome": _outcome,
    "outcomes": _outcomes,
}
