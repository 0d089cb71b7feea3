"""The bound of Dantzig-Wolfe's decomposition: prices of units, and the best single image at those prices.

For prices pi >= 0 let V be what the best single image is worth at them. Then

- at least ``sum(pi) / V`` images are needed to serve every unit (Farley 1990, doi:10.1287/opre.38.5.922);
- `count` images are worth at most ``sum(gain - pi) + count * V`` for every pi <= gain.

The prices are those of an LP over the images met so far (Gilmore & Gomory 1961,
doi:10.1287/opre.9.6.849), held near the best prices known (Wentges 1997,
doi:10.1111/j.1475-3995.1997.tb00076.x). They are rounded to whole numbers before V is computed, so the
bound is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack

from solvers.composition.knapsack import filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.pricing import Pricing
    from solvers.composition.problem import Image, Problem

_PRICE_UNITS = 10**5
_SMOOTHING = 0.6
_LESS_SMOOTHING = 0.3
_PRICING_SHARE = 0.3
_LP_UNITS_A_CELL = 2e-8
_LP_UNITS = 2e-3
_TOLERANCE = 1e-6


@dataclass(slots=True, kw_only=True)
class Columns:
    """What column generation leaves.

    Parameters
    ----------
    images
        Every image met, in the order of meeting.
    bound
        The best bound.
    prices, worth
        Shape (units,), whole prices that prove it, and what no image is worth more than at them; a worth
        of 0 where no prices were finished.
    converged
        Whether the bound cannot be improved by more prices.
    """

    images: dict[Image, None] = field(default_factory=dict)
    bound: int
    prices: NDArray[np.int64]
    worth: int = 0
    converged: bool = False

    def add(self, image: Image) -> bool:
        """Take an image in; say whether it is new."""
        new = bool(image) and image not in self.images
        if new:
            self.images[image] = None
        return new


def fewest_bound(problem: Problem, known: Sequence[Image], pricing: Pricing, budget: Budget) -> Columns:
    """Bound the number of images from below; `known` serve every unit."""
    count, most = len(problem.units), len(known)
    columns = Columns(bound=0, prices=np.zeros(count, dtype=np.int64))
    for image in (*known, *((u,) for u in range(count))):
        columns.add(problem.closed(image))
    centre = np.full(count, 1.0 / max(map(len, columns.images), default=1))
    smoothing, lower = _SMOOTHING, 0.0
    while not budget.spent and columns.bound < most:
        prices, value = _fewest_prices(columns, budget)
        if np.ceil(value - _TOLERANCE) <= columns.bound:
            columns.converged = True
            break
        point = np.rint((smoothing * centre + (1 - smoothing) * prices) * _PRICE_UNITS).astype(np.int64)
        images, worth = pricing.best(point, budget)
        if worth and point.sum() / worth > lower:
            lower, centre = point.sum() / worth, point / worth
            columns.bound = max(columns.bound, -(-int(point.sum()) // worth))
            columns.prices, columns.worth = point, worth
        # every image is to be taken in, so no generator
        added = [image for image in images if columns.add(image)]
        if any(prices[list(image)].sum() > 1 + _TOLERANCE for image in added):
            smoothing = _SMOOTHING
        elif smoothing > 0:
            smoothing = max(0.0, smoothing - _LESS_SMOOTHING)
        elif not added:
            columns.converged = worth is not None
            break
    columns.converged |= columns.bound >= most
    return columns


def coverage_bound(
    problem: Problem,
    count: int,
    known: Sequence[Image],
    pricing: Pricing,
    budget: Budget,
    *,
    met: Iterable[Image] = (),
) -> Columns:
    """Bound what `count` images are worth from above; `known` is such a choice, `met` more images."""
    value = problem.gain(known)
    gains = np.array([unit.gain for unit in problem.units], dtype=np.int64)
    step = int(np.gcd.reduce(gains)) or 1
    columns = Columns(bound=int(gains.sum()), prices=np.zeros_like(gains))
    for image in (*known, *_around_each(problem, gains)):
        columns.add(problem.closed(image))
    for image in met:
        columns.add(image)
    least, centre, smoothing = columns.bound, gains / 2.0, _SMOOTHING
    while not budget.spent and columns.bound > value:
        prices, lp = _coverage_prices(columns, gains, count, budget)
        if columns.bound <= np.floor(lp / step + _TOLERANCE) * step:
            columns.converged = True
            break
        point = np.rint(smoothing * centre + (1 - smoothing) * prices)
        point = np.clip(point, 0, gains).astype(np.int64)
        images, worth = pricing.best(point, budget.part(_PRICING_SHARE))
        if worth is not None:
            bound = int((gains - point).sum()) + count * worth
            if bound < least or columns.worth == 0:
                least, centre = bound, point.astype(np.float64)
                columns.bound = min(columns.bound, bound // step * step)
                columns.prices, columns.worth = point, worth
        # every image is to be taken in, so no generator
        added = [image for image in images if columns.add(image)]
        if added:
            smoothing = _SMOOTHING
        elif smoothing > 0:
            smoothing = max(0.0, smoothing - _LESS_SMOOTHING)
        else:
            columns.converged = worth is not None
            break
    columns.converged |= columns.bound <= value
    return columns


def _around_each(problem: Problem, gains: NDArray[np.int64]) -> list[Image]:
    """Return for each unit an image with it, so that the first prices are not blind to what it needs."""
    given = [int(gain) for gain in gains]
    return [filled(problem, given, (u,)) for u in range(len(given))]


def _membership(columns: Columns, budget: Budget) -> csr_matrix:
    units = len(columns.prices)
    rows = [r for r, image in enumerate(columns.images) for _ in image]
    cells = [u for image in columns.images for u in image]
    budget.charge(_LP_UNITS + _LP_UNITS_A_CELL * len(cells) * units)
    return csr_matrix((np.ones(len(cells)), (rows, cells)), shape=(len(columns.images), units))


def _fewest_prices(columns: Columns, budget: Budget) -> tuple[NDArray[np.float64], float]:
    """Return the prices of the largest sum at which no known image is worth more than 1."""
    matrix = _membership(columns, budget)
    images, units = matrix.shape
    solution = linprog(-np.ones(units), A_ub=matrix, b_ub=np.ones(images), bounds=(0, 1))
    if solution.x is None:  # the centre alone decides then
        return np.zeros(units), float("inf")
    return np.clip(solution.x, 0.0, 1.0), -float(solution.fun)


def _coverage_prices(
    columns: Columns, gains: NDArray[np.int64], count: int, budget: Budget
) -> tuple[NDArray[np.float64], float]:
    """Return the prices, at most the gains, at which the bound from the known images is least."""
    matrix = _membership(columns, budget)
    images, units = matrix.shape
    scale = float(gains.max(initial=1))
    solution = linprog(
        np.append(-np.ones(units), float(count)),
        A_ub=csr_matrix(hstack([matrix, -np.ones((images, 1))])),
        b_ub=np.zeros(images),
        bounds=[*((0.0, gain / scale) for gain in gains), (0.0, None)],
    )
    if solution.x is None:  # the centre alone decides then
        return np.zeros(units), -float("inf")
    return solution.x[:-1] * scale, float(gains.sum()) + float(solution.fun) * scale
