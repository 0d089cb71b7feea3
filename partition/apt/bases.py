"""Which system packages a base image holds, after the official recipes (``data/bases/contents.csv``)."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.apt.generated import installed_bytes
from partition.apt.settling import settle
from partition.apt.simulation import EMPTY, Base, Installed, base_of
from partition.environments.bases import describe_image
from partition.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.apt.index import Index


ERROR = 0.2
"""Relative error of the size of an image that was not measured itself."""

SLIM_SHARE = 0.91
"""What slim images keep of packages: a compiler, headers and git on bookworm took 501 MB of 552 MB."""

SLIM_SYSTEM_SHARE = 0.62
"""What slim images keep of the minimal system: 74 MB of 120 MB on bookworm."""

PIP_BYTES = 12_000_000
"""pip and setuptools, which the official images add to the interpreter."""


@dataclass(frozen=True, slots=True)
class ImageSize:
    """Bytes of an image, all layers together.

    Parameters
    ----------
    error
        Relative error.
    """

    bytes: int
    error: float


def base_for(image: str, index: Index) -> Base:
    """Return the packages of an official image on the release of an index; an empty root where unknown.

    With an empty root a closure holds what the image may have already: an upper bound.

    Raises
    ------
    InputError
        The recipe's packages do not install together in this release.
    """
    names = _names(image, index)
    if names is None:
        return EMPTY
    return base_of(settle((*index.minimal(), *names), index).requests, index)


def base_with(installed: Iterable[tuple[str, str]], index: Index) -> Base:
    """Return a base of the (name, version) pairs that ``dpkg-query`` lists in a real image.

    A version that is gone from the release counts as its newest; packages that are gone are left out.
    """
    packages = []
    for name, version in sorted(set(installed)):
        found = index.find(name, version) or index.newest(name)
        if found:
            packages.append(Installed(found.name, found.version, installed_bytes(found)))
    text = json.dumps([[each.name, each.version] for each in packages])
    return Base(tuple(packages), hashlib.sha256(text.encode()).hexdigest())


def size_of_image(image: str, index: Index) -> ImageSize | None:
    """Return the bytes of an official image as its recipe makes it, or None where the recipe is not known.

    Its packages as the index has them, and an interpreter in ``/usr/local`` where the image is named for one.

    Raises
    ------
    InputError
        The recipe's packages do not install together in this release.
    """
    if _names(image, index) is None:
        return None
    found = describe_image(image)
    held = base_for(image, index)
    total = round(held.bytes * share_of_packages(image))
    if total < held.bytes:
        system = base_for(f"debian:{index.release}", index)
        total -= round(system.bytes * (SLIM_SHARE - SLIM_SYSTEM_SHARE))
    if found.repository == "python":
        known = _interpreters()
        total += PIP_BYTES + known.get(found.python or "", max(known.values()))
    return ImageSize(total, ERROR)


def share_of_packages(image: str) -> float:
    """Return what part of packages' files an image keeps: slim ones leave out manuals and translations."""
    return SLIM_SHARE if "slim" in describe_image(image).tag else 1.0


def _names(image: str, index: Index) -> list[str] | None:
    """Return the names that an image's recipe and those below it list, as far as the release has them."""
    found = describe_image(image)
    for row in _rows():
        if row["repository"] == found.repository and re.fullmatch(row["tag"], found.tag):
            under = row["under"].replace("{release}", index.release)
            names = (_names(under, index) or []) if under else []
            for words in row["apt"].split():
                here = (name for name in words.split("|") if settle((name,), index).requests)
                names += [name for name in (next(here, None),) if name]
            return names
    return None


@lru_cache(maxsize=1)
def _interpreters() -> dict[str, int]:
    text = shipped("bases", "interpreters.csv").read_text(encoding="utf-8")
    return {row["python"]: int(row["bytes"]) for row in csv.DictReader(text.splitlines())}


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    text = shipped("bases", "contents.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
