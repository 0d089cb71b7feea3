"""Units laid out over a fixed number of images, as matrices that a move keeps up to date.

Bytes are whole numbers in float64, and shares of bytes are whole numbers of parts, so that every sum is
exact and the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.composition.problem import members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solvers.composition.problem import Image, Problem

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

_MOST_PARTS = 20


class Layout:
    """Where each unit is, and what every image would make of every unit.

    Attributes
    ----------
    place
        Shape (units,), the image that a unit is in; -1 for none.
    inside
        Shape (images, units), whether a unit is in an image.
    counts
        Shape (images, packages), how many units of an image need a package.
    added
        Shape (images, units), the bytes that an image has to take on for a unit.
    spare
        Shape (images, units), the bytes left in an image with a unit, below 0 where it does not fit
        and -inf where the two do not suit each other.
    freed
        Shape (units,), the bytes that only this unit needs where it is.
    """

    def __init__(self, problem: Problem, images: Iterable[Image], count: int) -> None:
        units, packages = len(problem.units), len(problem.sizes)
        self.needs = _matrix([unit.needs for unit in problem.units], packages)
        self._excludes = _matrix([unit.excludes for unit in problem.units], packages)
        self._excluding = bool(self._excludes.any())
        self._sizes = np.array(problem.sizes, dtype=np.float64)
        self._parts = 2.0 ** min(_MOST_PARTS, 52 - sum(problem.sizes).bit_length())
        self._rooms = problem.capacity - np.array(problem.base_sizes, dtype=np.float64)
        self._refuses = 1 - _matrix([unit.bases for unit in problem.units], len(problem.base_sizes))
        self.bytes_needed = self.needs @ self._sizes
        self.place = np.full(units, -1, dtype=np.int64)
        self.inside = np.zeros((count, units), dtype=np.bool_)
        self.counts = np.zeros((count, packages))
        self.added = np.zeros((count, units))
        self.spare = np.zeros((count, units))
        self.freed = np.zeros(units)
        for k, image in enumerate(images):
            for u in image:
                if self.place[u] < 0:
                    self._put(u, k)
        for k in range(count):
            self._refresh(k)

    def images(self) -> tuple[Image, ...]:
        """Return the units of each image."""
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in self.inside)

    @property
    def pool(self) -> Integers:
        """The units that are in no image, ascending."""
        return np.flatnonzero(self.place < 0)

    @property
    def cells(self) -> int:
        """About how many numbers one move goes through."""
        images, units = self.inside.shape
        packages = self.needs.shape[1]
        return units * (images + packages) + units * images * packages // 16

    def move(self, units: Iterable[int], place: int) -> None:
        """Move units out of where they are and into an image, to the pool where it is -1."""
        changed = set()
        for u in units:
            before = int(self.place[u])
            if before >= 0:
                self.place[u] = -1
                self.inside[before, u] = False
                self.counts[before] -= self.needs[u]
                changed.add(before)
            if place >= 0:
                self._put(u, place)
                changed.add(place)
        for k in sorted(changed):
            self._refresh(k)

    def _put(self, u: int, k: int) -> None:
        self.place[u] = k
        self.inside[k, u] = True
        self.counts[k] += self.needs[u]

    def _refresh(self, k: int) -> None:
        here = np.flatnonzero(self.inside[k])
        held = (self.counts[k] > 0).astype(np.float64)
        self.added[k] = self.needs @ (self._sizes * (1 - held))
        self.freed[here] = self.needs[here] @ (self._sizes * (self.counts[k] == 1))
        refused = self._refuses + self._refuses[here].sum(axis=0) > 0
        room = self._room(refused)
        self.spare[k] = room - self._sizes @ held - self.added[k]
        if self._excluding:
            excluded = self._excludes[here].any(axis=0).astype(np.float64)
            self.spare[k, self.needs @ excluded + self._excludes @ held > 0] = -np.inf

    def _room(self, refused: Bools) -> Floats:
        """Return the bytes for packages on the best base that is not refused; -inf where all are."""
        room: Floats = np.where(refused, -np.inf, self._rooms).max(axis=-1, initial=-np.inf)
        return room

    def evictions(self, u: int, weights: Floats) -> tuple[Floats, Bools]:
        """Return what has to leave each image for unit `u`, and how much it weighs.

        Units that exclude it leave first, then, until it fits, the one whose share of the bytes,
        each package divided by the units that need it, is largest for its weight. Images where more weight
        leaves than elsewhere are not looked at to the end.

        Returns
        -------
        cost
            Shape (images,), the weight that leaves; inf where that was not looked at to the end.
        leaving
            Shape (images, units).
        """
        leaving = np.zeros_like(self.inside)
        if self._excluding:
            leaving |= self.inside & (self.needs @ self._excludes[u] + self._excludes @ self.needs[u] > 0)
        cost = leaving @ weights
        counts = self.counts - leaving @ self.needs
        others = self._sizes * (1 - self.needs[u])
        least, live = np.inf, np.arange(len(cost))
        while live.size:
            here = self.inside[live] & ~leaving[live]
            refused = here @ self._refuses + self._refuses[u] > 0
            held = counts[live]
            over = (held > 0) @ others + self.bytes_needed[u] - self._room(refused)
            least = min(least, cost[live[over <= 0]].min(initial=np.inf))
            going = (over > 0) & (cost[live] < least)
            cost[live[(over > 0) & ~going]] = np.inf
            live, over, held, here = live[going], over[going], held[going], here[going]
            alone = (others * (held == 1)) @ self.needs.T
            parts = np.floor(self._parts * others / np.maximum(held, 1))
            share = parts @ self.needs.T / self._parts
            value = np.where(alone >= over[:, None], over[:, None], np.minimum(share, over[:, None]))
            chosen = np.where(here, value / weights, -1).argmax(axis=1)
            leaving[live, chosen] = True
            cost[live] += weights[chosen]
            counts[live] -= self.needs[chosen]
        return cost, leaving


def _matrix(masks: list[int], columns: int) -> Floats:
    """Return masks as rows of ones and zeros."""
    matrix = np.zeros((len(masks), columns))
    for row, mask in zip(matrix, masks, strict=True):
        row[members(mask)] = 1
    return matrix
