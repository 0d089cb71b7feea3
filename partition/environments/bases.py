"""Base image -> distribution, release, package manager, interpreter.

The facts are tables in ``data/bases``; this module matches a reference against them.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from partition.shipped import shipped

_PATCH = re.compile(r"\d+\.\d+\.\d+")
_PYTHON_IN_TAG = re.compile(r"(?:^|[-_])(?:python|py|cpython)-?(\d\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of ``data/bases/releases.csv``."""

    distribution: str
    release: str
    version: str
    manager: str
    python: str
    ends: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What is known about a base image; None where it is not.

    Parameters
    ----------
    image
        The reference as written.
    repository, tag
        Without registry default and digest.
    distribution, release
        ``debian`` and ``bookworm``.
    manager
        ``apt``, ``apk``, ``dnf``, ``yum``.
    python
        Minor version of the interpreter that the image is made for.
    moves
        Whether the release is the tag's today and not in its name, so that it may be another tomorrow.
    """

    image: str
    repository: str
    tag: str
    distribution: str | None = None
    release: str | None = None
    manager: str | None = None
    python: str | None = None
    moves: bool = False

    @property
    def facts(self) -> Release | None:
        """Return the row of the base's release, or None where it is not known."""
        return find_release(self.distribution, self.release)

    @property
    def archived(self) -> bool:
        """Return whether its packages are gone from the mirrors that its package manager asks."""
        return self.facts is not None and self.facts.state == "archived"

    @property
    def lacks_bash(self) -> bool:
        """Return whether the distribution ships without bash."""
        return self.distribution in {"alpine", "busybox"}


@lru_cache(maxsize=4096)
def describe_image(image: str) -> Base:
    """Return what the tables know about `image`."""
    repository, tag = split_reference(image)
    if image == "scratch":
        return Base(image=image, repository=repository, tag="")
    distribution, release, python = _from_table(repository, tag)
    named = _named_release(repository, tag)
    moves = named is None and bool(release) and _PATCH.match(tag) is None
    if named is not None:
        distribution, release = named.distribution, named.release
    in_tag = _PYTHON_IN_TAG.search(tag)
    row = find_release(distribution, release)
    return Base(
        image=image,
        repository=repository,
        tag=tag,
        distribution=distribution or None,
        release=release or None,
        manager=row.manager if row else _managers().get(distribution or ""),
        python=python or (in_tag[1] if in_tag else None),
        moves=moves,
    )


def split_reference(image: str) -> tuple[str, str]:
    """Return repository and tag of an image reference, ``docker.io/library/`` and the digest left out.

    The tag is ``latest`` where none is written.
    """
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    repository = f"{head}{slash}{last}"
    for default in ("docker.io/", "index.docker.io/", "library/"):
        repository = repository.removeprefix(default)
    return repository, tag if colon else "latest"


def find_release(distribution: str | None, release: str | None) -> Release | None:
    """Return the row of a release, or None where the table has none."""
    return _releases().get((distribution or "", release or ""))


def releases_of(distribution: str) -> tuple[str, ...]:
    """Return the releases of a distribution that the table has, oldest first."""
    return tuple(each.release for each in _releases().values() if each.distribution == distribution)


def _from_table(repository: str, tag: str) -> tuple[str | None, str | None, str | None]:
    for row_repository, pattern, *cells in _images():
        if not fnmatchcase(repository, row_repository):
            continue
        match = pattern.fullmatch(tag)
        if match:
            first = match[1] if match.re.groups and match[1] else ""
            distribution, release, python = (cell.replace("{1}", first) or None for cell in cells)
            return distribution, release, python
    return None, None, None


def _named_release(repository: str, tag: str) -> Release | None:
    """Return the release that the tag names: by name, by distribution and number, or by its number alone."""
    parts = re.split(r"[-_]", tag)
    for part in parts:
        if part in _by_name():
            return _by_name()[part]
        match = re.fullmatch(r"([a-z]+)([\d.]+)", part)
        if match and (found := _numbered(match[1], match[2])):
            return found
    for left, right in pairwise(parts):
        if found := _numbered(left, right):
            return found
    # the number alone is the release's in the distribution's own image: python:3.10 is no Alpine 3.10
    return _numbered(repository.rpartition("/")[2], parts[0])


def _numbered(distribution: str, number: str) -> Release | None:
    for release in _releases().values():
        if release.distribution != distribution or not release.version:
            continue
        if number == release.version or number.startswith(f"{release.version}."):
            return release
    return None


@lru_cache(maxsize=1)
def _releases() -> dict[tuple[str, str], Release]:
    return {(row["distribution"], row["release"]): Release(**row) for row in _table("releases.csv")}


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Release]:
    return {each.release: each for each in _releases().values() if each.release.isalpha()}


@lru_cache(maxsize=1)
def _managers() -> dict[str, str]:
    return {each.distribution: each.manager for each in _releases().values()}


@lru_cache(maxsize=1)
def _images() -> tuple[tuple[str, re.Pattern[str], str, str, str], ...]:
    return tuple(
        (row["repository"], re.compile(row["tag"]), row["distribution"], row["release"], row["python"])
        for row in _table("images.csv")
    )


def _table(name: str) -> list[dict[str, str]]:
    text = shipped("bases", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
