"""Candidates that a Lagrangian bound rules out of, or into, every good selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.selection.lagrangian import Dual
    from solvers.selection.problem import Problem


@dataclass(frozen=True, eq=False, kw_only=True)
class Survivors:
    """What selections of at least a given value consist of.

    Parameters
    ----------
    possible
        Candidates that such a selection may contain, ascending.
    forced
        Those of them that every such selection contains, ascending.
    """

    possible: NDArray[np.int64]
    forced: NDArray[np.int64]

    @property
    def free(self) -> NDArray[np.int64]:
        """The candidates still to decide on, ascending."""
        return np.setdiff1d(self.possible, self.forced, assume_unique=True)


def survivors(problem: Problem, dual: Dual, lower: int) -> Survivors:
    """Return what every selection worth at least `lower` is made of, as far as `dual` can tell.

    A candidate is ruled out if the bound falls below `lower` when it takes the place of the one worth
    least that must leave for it; ruled in if the bound does when the next best takes its place.
    """
    worth, opened, new = dual.worth, dual.opened, problem.new
    inside = np.zeros(len(worth), dtype=np.bool_)
    inside[opened] = True
    full = len(opened) >= problem.max_total
    crowded = int(new[opened].sum()) >= problem.max_new
    leaving = worth[opened].min(initial=np.inf) if full else 0.0
    leaving_new = worth[opened][new[opened]].min(initial=np.inf) if crowded else leaving
    put_in = dual.bound + worth - np.where(new, leaving_new, leaving)
    possible = inside | (put_in >= lower)
    entering = worth[~inside].max(initial=0.0)
    entering_existing = worth[~inside & ~new].max(initial=0.0) if crowded else entering
    taken_out = dual.bound - worth + np.where(new, entering, entering_existing)
    forced = inside & (taken_out < lower)
    return Survivors(possible=np.flatnonzero(possible), forced=np.flatnonzero(forced))
