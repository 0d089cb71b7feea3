"""Names that come from outside: archives, tables and remote listings."""

from __future__ import annotations

import re

MAX_BYTES = 1024
_SHOWN = 200
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What cannot be shown on one line, or not be encoded."""


def fault_of(name: str) -> str:
    """Return why `name` cannot be a path inside a task, as a predicate; empty where it can."""
    if name.startswith("/"):
        return "is absolute"
    if ".." in name.split("/"):
        return "climbs out with '..'"
    wrong = unusable(name)
    return f"has a name that {wrong}" if wrong else ""


def unusable(name: str) -> str:
    """Return why no file system could hold `name`, as a predicate; empty where one could."""
    if "\0" in name:
        return "holds a NUL"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "is not UTF-8"
    return f"is longer than {MAX_BYTES:,} bytes" if length > MAX_BYTES else ""


def tidy(name: str) -> str:
    """Return `name` without empty and ``.`` parts."""
    return "/".join([part for part in name.split("/") if part not in {"", "."}])


def quoted(name: str) -> str:
    """Return `name` as messages show it: escaped, and cut where it is very long."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…")
