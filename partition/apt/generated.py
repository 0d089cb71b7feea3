"""What a package leaves on disk beside its own files (``data/bases/generated.csv``)."""

from __future__ import annotations

import csv
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.shipped import shipped

if TYPE_CHECKING:
    from partition.apt.index import Package


def installed_bytes(package: Package) -> int:
    """Return the bytes of a package: its files as stated, and what its set-up makes."""
    fixed, share = _left_by(package.name)
    return package.size + fixed + round(package.size * share)


@lru_cache(maxsize=8192)
def _left_by(name: str) -> tuple[int, float]:
    rows = [row for row in _rows() if fnmatchcase(name, row[0])]
    return sum(row[1] for row in rows), max((row[2] for row in rows), default=0.0)


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[str, int, float], ...]:
    text = shipped("bases", "generated.csv").read_text(encoding="utf-8")
    return tuple(
        (row["package"], int(row["bytes"]), float(row["share"])) for row in csv.DictReader(text.splitlines())
    )
