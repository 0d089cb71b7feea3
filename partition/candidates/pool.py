"""Collecting candidates: each once, under a unique name, with the system packages of its release."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from partition.environments.bases import describe_image
from partition.environments.shared import PackageSet, SharedEnvironment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.default_bases import DefaultBase
    from partition.environments.shared import SetMember
    from partition.yields.table import ClassTable

_CONFLICTS = (
    frozenset({"libcurl4-openssl-dev", "libcurl4-gnutls-dev"}),
    frozenset({"libjack-dev", "libjack-jackd2-dev"}),
)
"""System packages that do not install together on Debian bookworm (simulated with apt itself)."""


class Pool:
    """The candidates collected so far.

    Parameters
    ----------
    table
        The classes that they are for.
    """

    def __init__(self, table: ClassTable) -> None:
        self.table = table
        self.environments: list[SharedEnvironment] = []
        self._index: dict[tuple[object, ...], int] = {}
        self._names: set[str] = set()
        self._apt: dict[tuple[str, str], tuple[str, ...]] = {}

    def add(self, origin: str, base: DefaultBase, python: str | None, members: Sequence[SetMember]) -> int:
        """Add the candidate with this base, interpreter and package lists, and return its index."""
        members = tuple(sorted(members))
        key = (base, python, members)
        if key not in self._index:
            self._index[key] = len(self.environments)
            name = self._unique(_name(python, base, members))
            self.environments.append(
                SharedEnvironment(
                    name=name,
                    origin=origin,
                    base=base.image,
                    distribution=base.distribution or None,
                    release=base.release or None,
                    python=python,
                    apt=self._packages(base),
                    baked=PackageSet(name=name, members=members) if members else None,
                )
            )
        return self._index[key]

    def _unique(self, name: str) -> str:
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}-{count}"
        self._names.add(unique)
        return unique

    def _packages(self, base: DefaultBase) -> tuple[str, ...]:
        if describe_image(base.image).archived:
            # an installation there fails; a task's own Dockerfile may know another place for the packages
            return ()
        key = (base.distribution, base.release)
        if key not in self._apt:
            self._apt[key] = union_of_apt(self.table, *key)
        return self._apt[key]


def union_of_apt(table: ClassTable, distribution: str, release: str) -> tuple[str, ...]:
    """Return all system packages wanted on a release that install together, the most wanted first to stay."""
    other, moved = table.away_from(distribution or None, release or None)
    wanted: dict[str, float] = defaultdict(float)
    for row in np.flatnonzero(~other & ~moved).tolist():
        for package in table.features[row].apt:
            wanted[package] += float(table.weights[row])
    kept: dict[str, str] = {}
    for package in sorted(wanted, key=lambda item: (-wanted[item], item)):
        name = package.partition("=")[0]
        if name in kept or any(name in pair and pair & (kept.keys() - {name}) for pair in _CONFLICTS):
            continue
        kept[name] = package
    return tuple(sorted(kept.values()))


def _name(python: str | None, base: DefaultBase, members: Sequence[SetMember]) -> str:
    image = base.image.rpartition("/")[2].partition(":")[0].partition("@")[0]
    place = f"py{python}" if python else ""
    if image != "python":
        place = f"{image}-{place}"
    named = [member for member in members if member.repo is not None]
    heads = [f"{member.family.rpartition('/')[2]}-{member.version}" for member in named[:2]]
    if len(named) > 2:
        heads.append(f"and-{len(named) - 2}-more")
    if len(members) > len(named):
        lists = len(members) - len(named)
        heads.append(f"{lists}-list{'s' * (lists > 1)}")
    name = "-".join([place, *heads]).lower()
    return re.sub(r"[^a-z0-9.]+", "-", name).strip("-.")[:100]
