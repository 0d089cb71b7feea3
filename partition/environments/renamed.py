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


def successors(distribution: str | None, release: str | None) -> dict[str, str]:
    """Return the packages that a release no longer has and that another does the work of there."""
    gone = gone_packages(distribution, release)
    return {old: new for old, new in gone.items() if old not in _other_versions()}


def as_named_on(base: str, packages: Iterable[str]) -> tuple[str, ...]:
    """Return packages by the names that an image's release has for them, sorted; a new one has no pin.

    A package whose successor is another version of a program (``python2``, ``openjdk-17-jdk``) keeps its own:
    nothing there does what it did.
    """
    found = describe_image(base)
    new = successors(found.distribution, found.release)
    return tuple(sorted({new.get(each.partition("=")[0], each) for each in packages}))


def there_on(base: str, packages: Iterable[str]) -> tuple[str, ...]:
    """Return packages as `as_named_on` does, without those that the release no longer has."""
    found = describe_image(base)
    gone = gone_packages(found.distribution, found.release)
    return tuple(each for each in as_named_on(base, packages) if each.partition("=")[0] not in gone)


@lru_cache(maxsize=1)
def _other_versions() -> frozenset[str]:
    """Return the packages that a later version took the place of, but for libraries: those carry a number."""
    return frozenset(
        row["old"] for row in _rows() if row["source"] == "same source" and not row["old"].startswith("lib")
    )


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
