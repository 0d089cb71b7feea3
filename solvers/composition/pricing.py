"""The best single image at given prices, by a look at all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.listing import Images
    from solvers.composition.problem import Image

_UNITS_A_CELL = 1e-8
_AT_ONCE = 30
_ROWS_AT_ONCE = 2**17


class Pricing(Protocol):
    """A way to the best single image."""

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return good images, and what no image is worth more than (None where there was no time)."""


class Listed:
    """Images that are all known."""

    def __init__(self, images: Images) -> None:
        self.images = images
        self._starts = np.concatenate([np.zeros(1, dtype=np.int64), images.ends[:-1]])

    def worths(self, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what each image is worth; shape (images,)."""
        worths = np.empty(len(self.images), dtype=np.int64)
        for first in range(0, len(worths), _ROWS_AT_ONCE):
            starts = self._starts[first : first + _ROWS_AT_ONCE]
            stop = self.images.ends[min(first + _ROWS_AT_ONCE, len(worths)) - 1]
            cells = prices[self.images.units[starts[0] : stop]]
            worths[first : first + _ROWS_AT_ONCE] = np.add.reduceat(cells, starts - starts[0])
        return worths

    def priced(self, prices: NDArray[np.int64], budget: Budget) -> NDArray[np.int64]:
        """Return what each image is worth, within a budget."""
        budget.charge(_UNITS_A_CELL * len(self.images.units))
        return self.worths(prices)

    def images_at(self, places: NDArray[np.int64]) -> tuple[Image, ...]:
        """Return the images at these places of the list."""
        return tuple(self.images[int(place)] for place in places)

    def at_least(self, prices: NDArray[np.int64], worth: int) -> tuple[Image, ...]:
        """Return the images that are worth so much."""
        return self.images_at(np.flatnonzero(self.worths(prices) >= worth))

    def most(self, prices: NDArray[np.int64], count: int) -> tuple[Image, ...]:
        """Return the `count` images that are worth most."""
        return self.images_at(_greatest(self.worths(prices), count))

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return the best images, and what the best is worth."""
        worths = self.priced(prices, budget)
        order = _greatest(worths, _AT_ONCE)
        return list(self.images_at(order)), int(worths[order[0]])


def _greatest(worths: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the places of the `count` greatest worths, the greatest first, the earlier of equals first."""
    places = np.arange(len(worths))
    if count < len(worths):
        places = np.flatnonzero(worths >= np.partition(worths, -count)[-count])
    return places[np.argsort(-worths[places], kind="stable")[:count]]
