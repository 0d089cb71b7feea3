"""The best single image at given prices: by a look at all of them, or by CP-SAT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from ortools.sat.python import cp_model
from scipy.sparse import csr_matrix

from solvers.composition.knapsack import filled
from solvers.composition.model import ImagesModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_FILL_UNITS = 2e-6
_UNITS_A_CELL = 2e-9
_AT_ONCE = 30


class Pricing(Protocol):
    """A way to the best single image."""

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return good images, and what no image is worth more than (None where there was no time)."""


class Listed:
    """Images that are all known."""

    def __init__(self, problem: Problem, images: Sequence[Image]) -> None:
        self.images = images
        rows = np.repeat(np.arange(len(images)), [len(image) for image in images])
        cells = np.concatenate([np.array(image, dtype=np.int64) for image in images])
        shape = (len(images), len(problem.units))
        self._matrix = csr_matrix((np.ones(len(cells), dtype=np.int64), (rows, cells)), shape=shape)

    def worths(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what each image is worth; shape (images,)."""
        worths: NDArray[np.int64] = self._matrix @ prices
        return worths

    def at_least(self, prices: NDArray[np.int64], worth: int) -> tuple[Image, ...]:
        """Return the images that are worth so much."""
        return tuple(self.images[int(place)] for place in np.flatnonzero(self.worths(prices) >= worth))

    def most(self, prices: NDArray[np.int64], count: int) -> tuple[Image, ...]:
        """Return the `count` images that are worth most."""
        order = np.argsort(-self.worths(prices), kind="stable")[:count]
        return tuple(self.images[int(place)] for place in order)

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return the best images, and what the best is worth."""
        budget.charge(_UNITS_A_CELL * self._matrix.nnz)
        worths = self.worths(prices)
        order = np.argsort(-worths, kind="stable")[:_AT_ONCE]
        return [self.images[int(place)] for place in order], int(worths[order[0]])


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
