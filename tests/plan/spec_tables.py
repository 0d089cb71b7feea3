"""Spec tables small enough to reason about, for the planning tests."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_COLUMNS = ("task_id", "repo", "version", "python", "apt", "pip", "created_at", "outcomes")


def write_table(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write rows as a CSV spec table; lists become JSON arrays."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, _COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()}
            writer.writerow(cells)
    return path


def three_families(tasks: int = 60) -> list[dict[str, object]]:
    """Return rows of three repositories over two interpreters and several releases."""
    rows: list[dict[str, object]] = []
    for number in range(tasks):
        repo, python = (("a/one", "3.8"), ("b/two", "3.11"), ("c/three", "3.11"))[number % 3]
        rows.append(
            {
                "task_id": f"task-{number:03}",
                "repo": repo,
                "version": f"{1 + number % 4}.0",
                "python": python,
                "apt": ["cmake"] if number % 3 == 0 else [],
                "pip": ["numpy<2"] if number % 3 == 1 else ["pytest==7.4.0"],
                "outcomes": ["own=pass"] if number % 5 else ["own=fail"],
            }
        )
    return rows
