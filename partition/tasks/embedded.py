"""The datasets that are shipped with envfold, called by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.shipped import shipped

if TYPE_CHECKING:
    from pathlib import Path

TABLES = {
    "swegym": ("swegym", "tasks.csv"),
    "swebench": ("swebench", "verified.csv"),
    "swebench:lite": ("swebench", "lite.csv"),
    "swebench:full": ("swebench", "full.csv"),
}


def embedded_table(name: str) -> Path:
    """Return the path of an embedded spec table.

    Raises
    ------
    InputError
        The installation lacks its data.
    """
    return shipped(*TABLES[name])
