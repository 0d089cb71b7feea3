"""Set values of task.toml line by line, where its tables stand in the usual way, below their headers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import tomlkit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*([^\[\]]*?)[ \t]*\]\]?[ \t]*(?:#.*)?")
_SCALAR = r"([ \t]*{}[ \t]*=[ \t]*)(?:[\w.+-]+|\"[^\"\\]*\"|'[^']*')([ \t]*(?:#.*)?)"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class _Section(NamedTuple):
    """A table as it is written: the line of its header, and the line behind its last key."""

    name: str
    start: int
    end: int


def with_lines(text: str, changes: Mapping[tuple[str, ...], Any]) -> str | None:
    """Return a TOML document with some values set; None where it takes more than lines.

    A new key comes behind the others of its table, a new table behind those that it belongs to; comments in
    front of the next header stay there. Only whoever reads the result back knows that it is right: a string
    of several lines may hold what looks like a header.

    Parameters
    ----------
    changes
        Value by path; see `partition.rewrite.task_config.edited`.
    """
    if "\r" in text or not all(_BARE.fullmatch(name) for path in changes for name in path):
        return None
    lines = text.removesuffix("\n").split("\n") if text else []
    tables: dict[tuple[str, ...], dict[str, str]] = {}
    for path, value in changes.items():
        tables.setdefault(path[:-1], {})[path[-1]] = _written(value)
    for table, values in tables.items():
        if not _set_in_table(lines, table, values):
            return None
    return "\n".join(lines) + "\n"


def as_item(value: Any) -> Any:
    """Return a value for tomlkit; a string in the quotes that need no backslash, where there are such."""
    if not isinstance(value, str):
        return tomlkit.item(value)
    literal = value.isprintable() and "'" not in value and ('"' in value or "\\" in value)
    return tomlkit.string(value, literal=literal)


def _written(value: Any) -> str:
    """Return a value as `as_item` writes it."""
    if isinstance(value, str) and value.isprintable():
        if '"' not in value and "\\" not in value:
            return f'"{value}"'
        if "'" not in value:
            return f"'{value}'"
    return str(as_item(value).as_string())


def _set_in_table(lines: list[str], table: tuple[str, ...], values: Mapping[str, str]) -> bool:
    """Set values of one table, in place; return whether that was possible."""
    sections = _sections(lines)
    name, family = ".".join(table), ".".join(table[:-1])
    section = next((each for each in sections if each.name == name), None)
    if section is not None:
        return _set_in_section(lines, section, values)
    end = len(lines)
    if family:
        near = [each for each in sections if f"{each.name}.".startswith(f"{family}.")]
        if not near:
            return False
        end = near[-1].end
    gap = [""] if end else []
    lines[end:end] = [*gap, f"[{name}]", *(f"{key} = {value}" for key, value in values.items())]
    return True


def _set_in_section(lines: list[str], section: _Section, values: Mapping[str, str]) -> bool:
    new = []
    for key, value in values.items():
        line = re.compile(rf"[ \t]*{key}[ \t]*=")
        number = next((n for n in range(section.start, section.end) if line.match(lines[n])), None)
        if number is None:
            new.append(f"{key} = {value}")
            continue
        match = re.fullmatch(_SCALAR.format(key), lines[number])
        if match is None:
            return False
        lines[number] = f"{match[1]}{value}{match[2]}"
    lines[section.end : section.end] = new
    return True


def _sections(lines: Sequence[str]) -> list[_Section]:
    headers = [(number, match[1]) for number, line in enumerate(lines) if (match := _HEADER.fullmatch(line))]
    return [
        _Section(name, start, _behind_last(lines, end))
        for (start, name), (end, _) in pairwise([*headers, (len(lines), "")])
    ]


def _behind_last(lines: Sequence[str], end: int) -> int:
    """Return where a table ends, without the comment of the header at `end`, and without blank lines."""
    if end < len(lines):
        while lines[end - 1].lstrip().startswith("#"):
            end -= 1
    while not lines[end - 1].strip():
        end -= 1
    return end
