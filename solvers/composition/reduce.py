"""The same problem, smaller: units that come along with others, packages that always come together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from solvers.composition.problem import Problem, mask_of, members

if TYPE_CHECKING:
    from solvers.composition.problem import Image, Unit


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduced:
    """A smaller problem.

    Parameters
    ----------
    problem
        The smaller problem.
    names
        For each of its units the unit of the larger problem that stands for it.
    """

    problem: Problem
    names: tuple[int, ...]

    def images(self, images: tuple[Image, ...]) -> tuple[Image, ...]:
        """Return images of the smaller problem as images of the larger one."""
        return tuple(tuple(sorted(self.names[u] for u in image)) for image in images)


def reduced(problem: Problem, *, all_served: bool) -> Reduced:
    """Return a problem with the same optimum.

    Equal units become one with the sum of their gains. Where all units have to be served, one that
    every image serving another serves too is left out; else one that is worth nothing. Units that fit
    nowhere are left out. Packages in the same sets are one package.
    """
    first: dict[tuple[int, int, int], int] = {}
    gains: dict[int, int] = {}
    for u, unit in enumerate(problem.units):
        if problem.fits(problem.empty.joined(unit)):
            name = first.setdefault((unit.needs, unit.excludes, unit.bases), u)
            gains[name] = gains.get(name, 0) + unit.gain
    names = [u for u in gains if all_served or gains[u] > 0]
    if all_served:
        names = _undominated(problem, names)
    units = [replace(problem.units[u], gain=gains[u]) for u in names]
    return Reduced(problem=_merged(problem, units), names=tuple(names))


def _undominated(problem: Problem, names: list[int]) -> list[int]:
    units = problem.units
    return [
        u for u in names if not any(units[other].implies(units[u]) for other in names if other != u)
    ]  # equal ones are gone, so two units never imply each other


def _merged(problem: Problem, units: list[Unit]) -> Problem:
    """Return the problem with packages of equal membership merged, and those that nobody needs gone."""
    membership: dict[int, list[int]] = {}
    for u, unit in enumerate(units):
        for p in members(unit.needs):
            membership.setdefault(p, []).append(2 * u)
        for p in members(unit.excludes):
            membership.setdefault(p, []).append(2 * u + 1)
    groups: dict[tuple[int, ...], list[int]] = {}
    for p in sorted(membership):
        if any(place % 2 == 0 for place in membership[p]):
            groups.setdefault(tuple(membership[p]), []).append(p)
    place = {p: group for group, packages in enumerate(groups.values()) for p in packages}
    return Problem(
        sizes=tuple(sum(problem.sizes[p] for p in packages) for packages in groups.values()),
        base_sizes=problem.base_sizes,
        capacity=problem.capacity,
        units=tuple(
            replace(
                unit,
                needs=mask_of(place[p] for p in members(unit.needs)),
                excludes=mask_of(place[p] for p in members(unit.excludes) if p in place),
            )
            for unit in units
        ),
    )
