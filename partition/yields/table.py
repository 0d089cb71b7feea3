"""Task classes and their hazards' inputs as arrays, so that one environment meets all classes at once."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from partition.environments.default_bases import PLAIN_KIND, kind_of
from partition.environments.shared import SetMember

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from partition.features.model import TaskClass, TaskFeatures

_COMPILERS = ("build-essential", "cmake", "gcc", "g++", "gfortran", "make", "clang", "default-jdk", "openjdk")
_NO_INSTALLS = ("project:", "constraint:", "apt-removed:", "pip-removed:", "conda-removed:")
"""Entries of `TaskFeatures.other` that install nothing of their own."""
_HASH_PINNED = re.compile(r"^[^=<>~!]+(==|===|=)[^*]+$")


def member_of(features: TaskFeatures) -> SetMember | None:
    """Return the package list that a task's own environment installs; None where it installs nothing."""
    if not (features.repo or features.pip or features.conda or features.requirement_files):
        return None
    return SetMember(
        family=features.family,
        version=features.version,
        repo=features.repo,
        pip=features.pip,
        conda=features.conda,
        requirement_files=features.requirement_files,
    )


def version_order(version: str) -> tuple[int, Version | tuple[tuple[int, str], ...], str]:
    """Return a sort key: PEP 440 versions in their order, then anything else by its numbers.

    The text decides between spellings of one version (``2.3`` and ``2.03``), so that no two keys are equal.
    """
    try:
        return (0, Version(version), version)
    except InvalidVersion:
        parts = re.findall(r"(\d+)|([^\d.]+)", version)
        return (1, tuple((int(number or -1), text) for number, text in parts), version)


def minor(python: str | None) -> float:
    """Return ``9`` for ``3.9``, NaN where unknown; another major version is a thousand away."""
    if python is None:
        return float("nan")
    major, _, rest = python.partition(".")
    return 1000.0 * (int(major) - 3) + float(rest.partition(".")[0] or 0)


def is_pinned(requirement: str) -> bool:
    """Whether a requirement admits exactly one version (or one direct reference)."""
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:
        return bool(_HASH_PINNED.match(requirement))
    if parsed.url:
        return True
    return any(item.operator in {"==", "==="} and "*" not in item.version for item in parsed.specifier)


def _is_heavy(features: TaskFeatures) -> bool:
    return (
        bool(features.conda)
        or any(name.endswith((".yml", ".yaml")) for name in features.requirement_files)
        or any(package.startswith(_COMPILERS) for package in features.apt)
    )


@dataclass(frozen=True)
class ClassTable:
    """Arrays over task classes; every array has one row a class.

    Parameters
    ----------
    classes
        In the order of the rows.
    """

    classes: tuple[TaskClass, ...]

    @cached_property
    def features(self) -> tuple[TaskFeatures, ...]:
        """The classes' features."""
        return tuple(item.features for item in self.classes)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Shape (n,), tasks a class."""
        return np.array([item.weight for item in self.classes], dtype=np.float64)

    @cached_property
    def members(self) -> tuple[SetMember | None, ...]:
        """The package list of each class."""
        return tuple(member_of(item) for item in self.features)

    @cached_property
    def python(self) -> NDArray[np.float64]:
        """Shape (n,), minor version wanted, NaN where nothing says."""
        return np.array([minor(item.python) for item in self.features])

    @cached_property
    def installs(self) -> NDArray[np.bool_]:
        """Shape (n,), whether the class needs packages at all."""
        return np.array([item is not None for item in self.members], dtype=bool)

    @cached_property
    def clones(self) -> NDArray[np.bool_]:
        """Shape (n,), whether set-up fetches a repository."""
        return np.array([item.repo is not None for item in self.features], dtype=bool)

    @cached_property
    def offline(self) -> NDArray[np.bool_]:
        """Shape (n,), whether nothing may be fetched at run time."""
        return np.array([item.network_mode == "no-network" for item in self.features], dtype=bool)

    @cached_property
    def heavy(self) -> NDArray[np.bool_]:
        """Shape (n,), whether installing compiles or follows an environment file."""
        return np.array([_is_heavy(item) for item in self.features], dtype=bool)

    @cached_property
    def others(self) -> NDArray[np.bool_]:
        """Shape (n,), whether the class installs with npm, cargo or the like, which is never baked."""
        return np.array([_installs_otherwise(item) for item in self.features], dtype=bool)

    @cached_property
    def _kinds(self) -> NDArray[np.str_]:
        return np.array([PLAIN_KIND if item.base is None else kind_of(item.base) for item in self.features])

    def loses_base(self, image: str) -> NDArray[np.bool_]:
        """Return which classes' own base brings something that another image lacks; shape (n,)."""
        return np.asarray((self._kinds != PLAIN_KIND) & (self._kinds != kind_of(image)), dtype=bool)

    @cached_property
    def drifting(self) -> NDArray[np.bool_]:
        """Shape (n,), whether some requirement is left open: unpinned, in a file, or in metadata.

        A list of exact pins without a file is taken as complete, project metadata included: such lists
        come from an environment that was resolved once.
        """
        return np.array([member is not None and not _resolved(member) for member in self.members], dtype=bool)

    @cached_property
    def dated(self) -> NDArray[np.bool_]:
        """Shape (n,), whether the task's date is known."""
        return np.array([item.created_at is not None for item in self.features], dtype=bool)

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Shape (n,), position of the class's release series among its family's, oldest first."""
        return np.array([self.ranks[item.family][item.version] for item in self.features], dtype=np.int64)

    @cached_property
    def ranks(self) -> dict[str, dict[str, int]]:
        """For each family the position of each release series."""
        versions: dict[str, set[str]] = defaultdict(set)
        for item in self.features:
            versions[item.family].add(item.version)
        return {
            family: {version: index for index, version in enumerate(sorted(names, key=version_order))}
            for family, names in versions.items()
        }

    @cached_property
    def rows_of_family(self) -> dict[str, list[int]]:
        """Rows of each family."""
        rows: dict[str, list[int]] = defaultdict(list)
        for index, item in enumerate(self.features):
            rows[item.family].append(index)
        return dict(rows)

    @cached_property
    def declared(self) -> list[tuple[int, frozenset[str]]]:
        """(row, packages) of each class whose listed packages are all there is."""
        return [
            (row, frozenset({*member.pip, *member.conda}))
            for row, member in enumerate(self.members)
            if member is not None and member.declared
        ]

    @cached_property
    def _distributions(self) -> NDArray[np.str_]:
        return np.array([item.distribution or "" for item in self.features])

    @cached_property
    def _releases(self) -> NDArray[np.str_]:
        return np.array([item.release or "" for item in self.features])

    def on_distribution(self, names: frozenset[str]) -> NDArray[np.bool_]:
        """Return which classes are made for one of the named distributions; shape (n,)."""
        return np.isin(self._distributions, sorted(names))

    def away_from(
        self, distribution: str | None, release: str | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which classes are made for another distribution, and which for another release of it.

        Unknown on either side counts as the same. Both arrays have shape (n,).
        """
        if distribution is None:
            none = np.zeros(len(self.classes), dtype=bool)
            return none, none
        stated = self._distributions != ""
        other = stated & (self._distributions != distribution)
        moved = stated & ~other & (self._releases != "") & (self._releases != (release or ""))
        return other, moved if release else np.zeros_like(moved)

    @cached_property
    def apt_index(self) -> dict[str, int]:
        """Column of each system package."""
        return {name: column for column, name in enumerate(sorted(self._all_apt()))}

    @cached_property
    def apt(self) -> NDArray[np.bool_]:
        """Shape (n, packages), which system packages a class needs."""
        table = np.zeros((len(self.classes), len(self.apt_index)), dtype=bool)
        for row, item in enumerate(self.features):
            table[row, [self.apt_index[name] for name in item.apt]] = True
        return table

    def _all_apt(self) -> Iterable[str]:
        return {name for item in self.features for name in item.apt}


def _installs_otherwise(features: TaskFeatures) -> bool:
    return any(not item.startswith(_NO_INSTALLS) for item in features.other)


def _resolved(member: SetMember) -> bool:
    listed: Sequence[str] = (*member.pip, *member.conda)
    return bool(listed) and not member.requirement_files and all(is_pinned(item) for item in listed)
