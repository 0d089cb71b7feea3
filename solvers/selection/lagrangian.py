"""A bound that is always there: Lagrangian relaxation of "each class is served at most once".

With a multiplier per class, a candidate is worth the sum of what its values exceed the multipliers
by, and the best S of the relaxation is the candidates worth most (Cornuejols, Fisher & Nemhauser
1977, doi:10.1287/mnsc.23.8.789). Any multipliers give a valid bound; they are kept whole numbers, so
that the bound is exact. Subgradient steps of Polyak's length improve them, along a direction that
remembers the earlier ones (Camerini, Fratta & Maffioli 1975, doi:10.1007/BFb0120697).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from solvers.selection.problem import Problem

_SHARE_MEMORY = 0.95
_GRID = 2.0**10


@dataclass(frozen=True, eq=False, kw_only=True)
class Dual:
    """Multipliers with the bound that they prove.

    Parameters
    ----------
    bound
        No selection has a larger value.
    multipliers
        Shape (n,), whole numbers >= 0.
    worth
        Shape (m,), what each candidate is worth at the multipliers.
    opened
        The candidates that the relaxation chooses, most worth first.
    """

    bound: int
    multipliers: NDArray[np.float64]
    worth: NDArray[np.float64]
    opened: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long the steps are.

    Parameters
    ----------
    first, last
        Share of Polyak's step length at the start and at the end.
    patience
        Steps without a better bound after which the length is halved.
    memory
        Weight of the earlier directions in the next one, in [0, 1).
    """

    first: float
    last: float
    patience: int
    memory: float = 0.9


def dual_at(problem: Problem, multipliers: NDArray[np.float64]) -> Dual:
    """Return the bound that the given whole-number multipliers prove."""
    worth = problem.excess(multipliers)
    order = np.argsort(-worth, kind="stable")
    order = order[worth[order] > 0]
    # the two caps form a laminar matroid, on which taking the most worth first is exact
    new = problem.new[order]
    opened = order[~new | (np.cumsum(new) <= problem.max_new)][: problem.max_total]
    bound = int(multipliers.sum() + worth[opened].sum())
    return Dual(bound=bound, multipliers=multipliers, worth=worth, opened=opened)


class Ascent:
    """A search for better multipliers that can be stopped, narrowed to fewer candidates, and resumed.

    Attributes
    ----------
    best
        The best dual so far.
    share
        Shape (m,): how often each candidate was opened lately, in [0, 1]; near the solution of the
        linear relaxation (Barahona & Anbil 2000, doi:10.1007/s101070050002).
    steps
        Steps taken so far.
    settled
        Whether the steps have become too short to go on.
    """

    def __init__(self, problem: Problem, multipliers: NDArray[np.float64], pace: Pace) -> None:
        self.problem = problem
        self.best = self._current = dual_at(problem, multipliers)
        self.share = np.zeros(len(problem.new))
        self.steps = 0
        self.settled = False
        self._pace = pace
        self._length = pace.first
        self._stale = 0
        self._direction = np.zeros(len(multipliers))

    def run(self, lower: int, steps: int, visit: Callable[[NDArray[np.int64]], int] | None = None) -> None:
        """Take up to `steps` steps, fewer where the bound comes within a unit of `lower`.

        Parameters
        ----------
        lower
            Value of a known selection.
        visit
            Called with every set that the relaxation opens; returns the value of the best known selection.
        """
        for _ in range(steps):
            if self.best.bound < lower + self.problem.unit:
                return
            # on a grid, so that the square is exact and the same in any order of addition
            direction = np.rint((self._subgradient() + self._pace.memory * self._direction) * _GRID) / _GRID
            square = float(direction @ direction)
            if square == 0 or self.settled:
                self.settled = True
                return
            self._direction = direction
            length = self._length * (self._current.bound - lower + 1) / square
            multipliers = np.maximum(np.rint(self._current.multipliers - length * direction), 0.0)
            self._accept(dual_at(self.problem, multipliers))
            if visit is not None:
                lower = max(lower, visit(self._current.opened))

    def narrow(self, candidates: NDArray[np.int64]) -> None:
        """Go on with only `candidates`."""
        self.problem = self.problem.restricted(candidates)
        self.share = self.share[candidates]
        self._current = dual_at(self.problem, self._current.multipliers)
        self.best = dual_at(self.problem, self.best.multipliers)

    def _subgradient(self) -> NDArray[np.float64]:
        current = self._current
        served = (self.problem.values[current.opened] > current.multipliers).sum(axis=0)
        gradient: NDArray[np.float64] = 1.0 - served
        gradient[(current.multipliers == 0) & (served == 0)] = 0.0
        return gradient

    def _accept(self, dual: Dual) -> None:
        self.steps += 1
        self._current = dual
        self.share *= _SHARE_MEMORY
        self.share[dual.opened] += 1.0 - _SHARE_MEMORY
        if dual.bound < self.best.bound:
            self.best, self._stale = dual, 0
            return
        self._stale += 1
        if self._stale >= self._pace.patience:
            self._length, self._stale = self._length / 2, 0
            self.settled = self._length < self._pace.last
