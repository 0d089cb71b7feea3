"""The bound of set covering's relaxation where all maximal images are known.

At prices of units at which no image is worth more than 1, at least as many images are needed as all units
are worth. The best such prices come from an LP over some of the images; those among all that are worth
more than 1 are added until there are none (Gilmore & Gomory 1961, doi:10.1287/opre.9.6.849). Unlike
`columns.fewest_bound` this goes on when the bound cannot rise any more: the better the prices, the more
images they exclude from every choice of few (`Listed.at_least`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from solvers.composition.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.pricing import Listed
    from solvers.composition.problem import Image, Problem

_PRICE_UNITS = 10**7
_ADDED = 300
_LP_UNITS = 4e-3
_LP_UNITS_A_PIVOT = 1e-7
_TOLERANCE = 1e-9


def covering_bound(problem: Problem, known: Iterable[Image], listed: Listed, budget: Budget) -> Columns:
    """Bound the number of images that serve all units from below.

    Parameters
    ----------
    known
        Images that serve every unit.
    listed
        All maximal images.
    """
    count = len(problem.units)
    columns = Columns(bound=0, prices=np.zeros(count, dtype=np.int64))
    for image in (*known, *((u,) for u in range(count))):
        columns.add(problem.closed(image))
    matrix = _rows(list(columns.images), count)
    best = 0.0
    while not budget.spent:
        prices = _prices(matrix, budget)
        point = np.rint(prices * _PRICE_UNITS).astype(np.int64)
        worths = listed.priced(point, budget)
        worth = int(worths.max())
        if worth and point.sum() / worth > best:
            best = point.sum() / worth
            columns.prices, columns.worth = point, worth
            columns.bound = max(columns.bound, -(-int(point.sum()) // worth))
        added = [image for image in listed.images_at(_spread(worths)) if columns.add(image)]
        if not added or worth <= (1 + _TOLERANCE) * _PRICE_UNITS + count:
            columns.converged = True
            break
        matrix = csr_matrix(vstack([matrix, _rows(added, count)]))
    return columns


def _rows(images: list[Image], units: int) -> csr_matrix:
    cells = np.concatenate([np.array(image, dtype=np.int32) for image in images])
    ends = np.cumsum([0, *map(len, images)])
    return csr_matrix((np.ones(len(cells)), cells, ends), shape=(len(images), units))


def _prices(matrix: csr_matrix, budget: Budget) -> NDArray[np.float64]:
    """Return the prices of the largest sum at which no image among the rows is worth more than 1."""
    images, units = matrix.shape
    solution = linprog(-np.ones(units), A_ub=matrix, b_ub=np.ones(images), bounds=(0, 1), method="highs-ds")
    budget.charge(_LP_UNITS + _LP_UNITS_A_PIVOT * int(solution.nit) * (images + units))
    return np.zeros(units) if solution.x is None else np.clip(solution.x, 0.0, 1.0)


def _spread(worths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the most valuable images worth more than 1, and of some from all others of these.

    The best alone resemble each other.
    """
    places = np.flatnonzero(worths > _PRICE_UNITS)
    if len(places) <= _ADDED:
        return places
    places = places[np.argsort(-worths[places], kind="stable")]
    half = _ADDED // 2
    return np.concatenate([places[:half], places[half :: (len(places) - half) // half + 1]])
