"""Generate candidates: one an interpreter, each package list's own, merged lists, clusters."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from partition.candidates.bases import base_of, can_bake
from partition.candidates.clusters import jaccard_clusters
from partition.candidates.merging import agreeing
from partition.candidates.pool import Pool
from partition.yields.table import version_order

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from partition.environments.default_bases import DefaultBase
    from partition.environments.shared import SetMember, SharedEnvironment
    from partition.yields.table import ClassTable

    _Place: TypeAlias = tuple[DefaultBase, str | None]

_MOST_OWN = 1500
"""Package lists with a candidate of their own, heaviest first; the long tail is served by merged sets."""
_MOST_GROUPS = 200
"""Groups of a simple rule with a candidate, heaviest first: a rule keeps its K heaviest at any K below it."""
_MOST_MERGED = 8
"""Families merged into one undeclared set at most."""
_CLUSTERED = 3000
"""Classes clustered at most, heaviest first: the distances take quadratic memory."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates:
    """Environments to choose from, and which of them the simple rules in use today would build.

    Parameters
    ----------
    environments
        m of them, unique by name.
    own
        Shape (n,): for each class the candidate that bakes its own list, or its interpreter's where it
        installs nothing; -1 where its group was left out for want of weight, here and below.
    interpreter
        Shape (n,): for each class the candidate of its interpreter that bakes no packages.
    family
        Shape (n,): for each class the candidate of its (interpreter, family).
    clusters
        For each Jaccard threshold, shape (n,): the candidate of each class's cluster.
    """

    environments: tuple[SharedEnvironment, ...]
    own: NDArray[np.int64]
    interpreter: NDArray[np.int64]
    family: NDArray[np.int64]
    clusters: tuple[NDArray[np.int64], ...]


def generate(table: ClassTable, commits: Mapping[tuple[str, str], str]) -> Candidates:
    """Generate the candidates for a table of classes.

    Parameters
    ----------
    commits
        For (repo, version) a commit of the repository at which its requirement files can be read.
    """
    pool = Pool(table)
    sites = _Sites(table, commits)
    _grouped(table, sites.places, _MOST_OWN, lambda rows: pool.add("interpreter", *sites.place(rows), ()))
    interpreter = _grouped(
        table,
        [item.python or "" for item in table.features],
        _MOST_GROUPS,
        lambda rows: pool.add("interpreter", *sites.place(rows), ()),
    )
    own = _grouped(
        table,
        list(zip(sites.places, sites.lists, strict=True)),
        _MOST_OWN,
        lambda rows: pool.add("own", *sites.places[rows[0]], sites.listed(rows[:1])),
    )
    family = _grouped(
        table,
        [(place, item.family) for place, item in zip(sites.places, table.features, strict=True)],
        _MOST_GROUPS,
        lambda rows: pool.add("own", *sites.places[rows[0]], sites.middle(rows)),
    )
    for place, rows in sites.by_place():
        _add_merged(pool, sites, place, rows)
    heaviest = np.argsort(-table.weights, kind="stable")[:_CLUSTERED]
    clusters = []
    for labels in jaccard_clusters([table.features[row] for row in heaviest]):
        keys: list[int | None] = [None] * len(table.classes)
        for row, label in zip(heaviest.tolist(), labels.tolist(), strict=True):
            keys[row] = label
        clusters.append(_grouped(table, keys, _MOST_GROUPS, lambda rows: _add_cluster(pool, sites, rows)))
    return Candidates(
        environments=tuple(pool.environments),
        own=own,
        interpreter=interpreter,
        family=family,
        clusters=tuple(clusters),
    )


class _Sites:
    """Where each class would live alone, and the package list it would bake there.

    Parameters
    ----------
    places
        Base and interpreter of each class.
    lists
        Package list of each class, with the commit at which its files can be read; None for none.
    """

    def __init__(self, table: ClassTable, commits: Mapping[tuple[str, str], str]) -> None:
        self.table = table
        self.places: list[_Place] = [base_of(item) for item in table.features]
        self.lists: list[SetMember | None] = [
            replace(item, commit=commits.get((item.repo or "", item.version)))
            if item is not None and can_bake(base)
            else None
            for item, (base, _) in zip(table.members, self.places, strict=True)
        ]

    def place(self, rows: Sequence[int]) -> _Place:
        """Return the place where most tasks of some rows would live."""
        weight: dict[_Place, float] = defaultdict(float)
        for row in rows:
            weight[self.places[row]] += float(self.table.weights[row])
        return max(weight, key=lambda item: (weight[item], repr(item)))

    def by_place(self) -> list[tuple[_Place, list[int]]]:
        """Return the rows that install packages, by place."""
        rows: dict[_Place, list[int]] = defaultdict(list)
        for row, place in enumerate(self.places):
            if self.lists[row] is not None:
                rows[place].append(row)
        return sorted(rows.items(), key=repr)

    def listed(self, rows: Sequence[int]) -> tuple[SetMember, ...]:
        """Return the package lists of some rows, heaviest first."""
        weight: dict[SetMember, float] = defaultdict(float)
        for row in rows:
            member = self.lists[row]
            if member is not None:
                weight[member] += float(self.table.weights[row])
        return tuple(sorted(weight, key=lambda member: (-weight[member], member)))

    def middle(self, rows: Sequence[int]) -> tuple[SetMember, ...]:
        """Return the package list at the weighted median release of some rows of one family, if any."""
        installing = [row for row in rows if self.lists[row] is not None]
        if not installing:
            return ()
        ordered = sorted(installing, key=lambda row: (version_order(self.table.features[row].version), row))
        weights = np.cumsum(self.table.weights[ordered])
        return self.listed([ordered[int(np.searchsorted(weights, weights[-1] / 2))]])


def _grouped(
    table: ClassTable, keys: Sequence[Hashable], most: int, build: Callable[[list[int]], int]
) -> NDArray[np.int64]:
    """Build a candidate for each of the heaviest groups of rows with equal keys; None belongs to no group.

    Returns
    -------
    Shape (n,): the candidate of each row's group, -1 for none.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        if key is not None:
            groups[key].append(row)
    ranked = sorted(groups.values(), key=lambda rows: (-float(table.weights[rows].sum()), rows[0]))
    result = np.full(len(keys), -1, dtype=np.int64)
    for rows in ranked[:most]:
        result[rows] = build(rows)
    return result


def _add_merged(pool: Pool, sites: _Sites, place: _Place, rows: Sequence[int]) -> None:
    """Add sets merged at one place: the heaviest families' middle lists, and declared lists in doublings."""
    families: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        families[sites.table.features[row].family].append(row)
    ranked = sorted(families.items(), key=lambda item: (-float(sites.table.weights[item[1]].sum()), item[0]))
    middles = [member for _, members in ranked for member in sites.middle(members) if not member.declared]
    undeclared = agreeing(middles[: 4 * _MOST_MERGED])
    for count in range(2, min(len(undeclared), _MOST_MERGED) + 1):
        pool.add("merged", *place, undeclared[:count])
    declared = agreeing([member for member in sites.listed(rows) if member.declared])
    count = 2
    while count < 2 * len(declared):
        pool.add("merged", *place, declared[:count])
        count *= 2


def _add_cluster(pool: Pool, sites: _Sites, rows: Sequence[int]) -> int:
    """Add a cluster's environment: its heaviest place, baking what agrees of its lists, one a family."""
    members = sites.listed(rows)
    heads = {member.family: member for member in reversed(members)}
    kept = [member for member in members if member.declared or heads[member.family] is member]
    return pool.add("cluster", *sites.place(rows), agreeing(kept))
