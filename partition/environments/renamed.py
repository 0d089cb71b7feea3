"""System packages that a release no longer has, and what stands in for them (``data/bases/renamed.csv``)."""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.environments.bases import describe_image, releases_of
from partition.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable


@lru_cache(maxsize=64)
def gone_packages(distribution: str | None, release: str | None) -> dict[str, str]:
    """Return the packages that a release no longer has, each with what stands in for it there."""
    order = releases_of(distribution or "")
    if release not in order:
        return {}
    last = order.index(release)
    rows = [
        row for row in _rows() if row["distribution"] == distribution and order.index(row["release"]) <= last
    ]
    gone = {row["old"]: row["new"] for row in sorted(rows, key=lambda row: order.index(row["release"]))}
    return {old: _final(new, gone) for old, new in gone.items()}


def as_named_on(base: str, packages: Iterable[str]) -> tuple[str, ...]:
    """Return packages by the names that an image's release has for them, sorted; a new one has no pin."""
    found = describe_image(base)
    gone = gone_packages(found.distribution, found.release)
    return tuple(sorted({gone.get(each.partition("=")[0], each) for each in packages}))


def _final(name: str, gone: dict[str, str]) -> str:
    """Return what has taken the place of what took a package's place; two may name one another."""
    seen = set[str]()
    while name in gone and name not in seen:
        seen.add(name)
        name = gone[name]
    return name


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    text = shipped("bases", "renamed.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
