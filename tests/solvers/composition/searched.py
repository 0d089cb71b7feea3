"""The best single image at given prices by CP-SAT: the reference that other ways are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from solvers.composition.knapsack import filled
from solvers.composition.model import ImagesModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_FILL_UNITS = 2e-6


class Searched:
    """Images that CP-SAT has to find."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self._seed = seed
        self._model = ImagesModel(problem, 1)

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return the best image that the budget allows for, starting from a greedy one."""
        given = [int(price) for price in prices]
        start = filled(self._problem, given)
        budget.charge(_FILL_UNITS * len(given) * (1 + len(start)) + self._model.building_units)
        self._model.hint([start])
        self._model.model.maximize(cp_model.LinearExpr.weighted_sum(self._model.placed[0], given))
        outcome = self._model.solve(budget, self._seed, linearization=2)
        image = outcome.images[0] if outcome.images else start
        return [self._problem.closed(image)], outcome.bound
