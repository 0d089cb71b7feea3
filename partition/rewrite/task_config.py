"""task.toml of a folded task: a few keys added, every other byte as it was."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from partition.rewrite.task_lines import as_item, with_lines
from partition.tasks.config import document_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class UneditableError(Exception):
    """The file cannot be changed without changing more; the message is a sentence's end."""


def edited(data: bytes, changes: Mapping[tuple[str, ...], Any]) -> bytes:
    """Return a TOML document with some values set.

    Parameters
    ----------
    changes
        Value by path (``("environment", "workdir")``); tables above are made where they are missing.

    Raises
    ------
    UneditableError
        The result would not read back as the old document with just these changes.
    """
    text = data.decode("utf-8")
    wanted = deepcopy(dict(document_of(data)))
    why = "its tables are written in an unusual way"
    try:
        for path, value in changes.items():
            _set_plain(wanted, path, value)
    except (TypeError, AttributeError) as error:
        raise UneditableError(f"cannot be edited: {error}") from error
    # the usual way, ten times as fast; what comes out is read back, as below
    result = with_lines(text, changes)
    if result is not None and _says(new := result.encode("utf-8"), wanted):
        return new
    # below dotted keys a table can only be written on one line
    for make in (tomlkit.table, tomlkit.inline_table):
        try:
            document = tomlkit.parse(text)
            for path, value in changes.items():
                _set(document, path, value, make)
            new = tomlkit.dumps(document).encode("utf-8")
            if _says(new, wanted):
                return new
        except (TOMLKitError, ValueError, TypeError, AttributeError) as error:
            why = str(error)
    raise UneditableError(f"cannot be edited: {why}")


def _says(data: bytes, wanted: Mapping[str, Any]) -> bool:
    try:
        return document_of(data) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _set(document: Any, path: tuple[str, ...], value: Any, make: Callable[[], Any]) -> None:
    table = document
    for name in path[:-1]:
        if name not in table:
            table[name] = tomlkit.inline_table() if isinstance(table, InlineTable) else make()
        table = table[name]
    table[path[-1]] = as_item(value)


def _set_plain(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    table = document
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value
