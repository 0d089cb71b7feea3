"""What every report words the same way: numbers with their noun, lines that fit, faults as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.errors import Fault

WIDTH = 80
"""Columns that a table fits, whatever the terminal, so that same input gives same bytes."""


def plural(number: int, noun: str) -> str:
    """Return ``1 task`` or ``2,438 tasks``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def shorten(text: str, width: int = WIDTH) -> str:
    """Cut `text` to `width` columns on one line; an East Asian wide character takes two of them."""
    text = " ".join(text.splitlines())
    columns = 0
    for position, character in enumerate(text):
        columns += 2 if east_asian_width(character) in "WF" else 1
        if columns > width - (position + 1 < len(text)):
            return f"{text[:position]}…"
    return text


def page(lines: Iterable[str]) -> str:
    """Join lines, each cut to `WIDTH`."""
    return "\n".join(shorten(line) for line in lines)


def fault_document(fault: Fault) -> dict[str, Any]:
    """Return a fault as plain data."""
    return {"where": fault.where, "what": fault.what, "hint": fault.hint, "task": fault.task}
