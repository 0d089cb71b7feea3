"""The best single image, exactly: branch and bound on packages, some nodes at once.

The problem is the set-union knapsack of Goldschmidt, Nehme & Yu 1994,
doi:10.1002/1520-6750(199410)41:6<833::AID-NAV3220410611>3.0.CO;2-Q. At a node some packages are held (and
paid for), others are out, and with them the units that need them. What a package that is undecided weighs
is shared out among the units that need it. With any shares that do not exceed the whole, the images of the
node are worth at most what a fractional knapsack of the shares is (Dantzig 1957, doi:10.1287/opre.5.2.266);
the shares are the multipliers of "a unit only with its packages". They are best where all units of the
knapsack are about as valuable for what they weigh, so some rounds move them there. The next package to
decide is one that the knapsack pays for in part.

Shares are whole numbers of grains, rounded down: their sums are exact, hence the same on every machine, and
never more than the package.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

from solvers.composition.knapsack import filled
from solvers.composition.problem import members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_ROOT_ROUNDS = 30
_ROUNDS = 3
_AT_ONCE = 64
_ROUNDED = 4
_KEPT = 30
_MOST_WEIGHT = 4096.0
_MOST_STEP = 20.0
_EXACT = 2.0**52
_SLACK = 1e-9
_MOST_CELLS = 10_000_000
_TINY = 1e-12
_UNITS_A_CELL = 1.6e-9
_UNITS_A_BATCH = 2e-3


@dataclass(slots=True)
class _Nodes:
    """Open nodes, one a row.

    Parameters
    ----------
    room
        What is left for packages that are undecided.
    free
        Shape (n, packages), what each package weighs that is not held, 0 where it is.
    alive
        Shape (n, units), the units that are not out.
    weights
        Shape (n, units), in what proportion units share what they need.
    bound
        Nothing in the node is worth more.
    package
        The next to decide, -1 where nothing is left to decide.
    order
        Shape (n, units), the units by what they are worth for what they weigh.
    whole
        Shape (n, units), the units that the knapsack takes whole.
    """

    room: NDArray[np.float64]
    free: NDArray[np.float64]
    alive: NDArray[np.bool_]
    weights: NDArray[np.float64]
    bound: NDArray[np.float64]
    package: NDArray[np.int64]
    order: NDArray[np.int64]
    whole: NDArray[np.bool_]

    def at(self, rows: NDArray[Any]) -> _Nodes:
        """Return some of the nodes."""
        return _Nodes(*(getattr(self, field.name)[rows] for field in fields(self)))

    def with_more(self, other: _Nodes) -> _Nodes:
        """Return these nodes and others."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return _Nodes(*(np.concatenate(pair) for pair in pairs))


class _Membership:
    """Which packages are on the list of which units: sums over either."""

    def __init__(self, masks: list[int], packages: int) -> None:
        rows = [members(mask) for mask in masks]
        self.count = sum(map(len, rows))
        places = np.repeat(np.arange(len(masks)), [len(row) for row in rows])
        cells = np.array([p for row in rows for p in row], dtype=np.int64)
        self._by_unit = csr_matrix((np.ones(self.count), (places, cells)), shape=(len(masks), packages))
        self._by_package = self._by_unit.T.tocsr()

    def units(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over the packages of each unit; shapes (n, packages) to (n, units)."""
        return np.ascontiguousarray((self._by_unit @ np.ascontiguousarray(rows.T)).T)

    def packages(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over the units that list a package; shapes (n, units) to (n, packages)."""
        return np.ascontiguousarray((self._by_package @ np.ascontiguousarray(rows.T)).T)

    def having(self, packages: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each of the packages which units list it; shape (n, units)."""
        having: NDArray[np.bool_] = self._by_package[packages].toarray() > 0
        return having


@dataclass(slots=True)
class _Knapsack:
    """Fractional knapsacks, one a row.

    Parameters
    ----------
    value
        What they are worth.
    order, worths
        Shape (n, units), the units by worth for weight, and that of each; -1 for those worth nothing.
    parts
        Shape (n, units), what part of each is in.
    margin
        Shape (n, 1), the worth for weight of the last unit.
    """

    value: NDArray[np.float64]
    order: NDArray[np.int64]
    parts: NDArray[np.float64]
    worths: NDArray[np.float64]
    margin: NDArray[np.float64]


class UnionKnapsack:
    """Finds images that are worth most at given prices."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        count = len(problem.sizes)
        self._needs = _Membership([unit.needs for unit in problem.units], count)
        self._excludes = _Membership([unit.excludes for unit in problem.units], count)
        self._cells = 1.0 * self._needs.count + count + 4 * len(problem.units)
        self._sizes = problem.package_sizes
        largest = float(self._sizes.max(initial=1.0)) * max(1, count)
        self._grain = 2.0 ** np.floor(np.log2(_EXACT / max(1.0, largest)))

    def best(self, prices: NDArray[np.int64], budget: Budget) -> tuple[list[Image], int | None]:
        """Return good images, the most valuable first, and what no image is worth more than.

        Parameters
        ----------
        prices
            Shape (units,), whole numbers >= 0.
        """
        start = filled(self._problem, [int(price) for price in prices])
        budget.charge(_UNITS_A_BATCH)
        found = {start: int(prices[list(start)].sum())}
        nodes = self._roots(prices, budget)
        while True:
            self._round(nodes, prices, found)
            done = nodes.package < 0
            known = max(found.values())
            worth = int(known * (1.0 + _SLACK) + 0.5)
            nodes = nodes.at((nodes.bound >= worth + 0.5) & ~done)
            budget.charge(_UNITS_A_CELL * nodes.free.size)
            if budget.spent or not len(nodes.bound) or nodes.free.size > _MOST_CELLS:
                break
            order = np.argsort(-nodes.bound, kind="stable")
            children = self._children(nodes.at(order[:_AT_ONCE]), prices, budget)
            nodes = children.with_more(nodes.at(order[_AT_ONCE:]))
        worth = max(worth, int(nodes.bound.max(initial=0.0) * (1.0 + _SLACK)))
        best = sorted(found, key=lambda image: (-found[image], image))[:_KEPT]
        return [self._problem.closed(image) for image in best], worth

    def _round(self, nodes: _Nodes, prices: NDArray[np.int64], found: dict[Image, int]) -> None:
        """Add to `found` the images of finished nodes, and some that fill one up in the order of a node."""
        for row in np.flatnonzero(nodes.package < 0):
            image = tuple(map(int, np.flatnonzero(nodes.whole[row])))
            found[image] = int(prices[list(image)].sum())
        problem = self._problem
        for row in np.argsort(-nodes.bound, kind="stable")[:_ROUNDED]:
            whole, chosen = problem.empty, []
            for u in map(int, nodes.order[row]):
                if prices[u] > 0 and problem.fits(larger := whole.joined(problem.units[u])):
                    whole = larger
                    chosen.append(u)
            image = tuple(sorted(chosen))
            found[image] = int(prices[chosen].sum())

    def _roots(self, prices: NDArray[np.int64], budget: Budget) -> _Nodes:
        """Return a node for each base."""
        problem = self._problem
        bases = range(len(problem.base_sizes))
        runs = [[bool(unit.bases >> b & 1) for unit in problem.units] for b in bases]
        alive = np.array(runs, dtype=np.bool_).reshape(len(bases), len(problem.units)) & (prices > 0)
        nodes = _Nodes(
            room=np.array([float(problem.capacity - size) for size in problem.base_sizes]),
            free=np.tile(self._sizes, (len(bases), 1)),
            alive=alive,
            weights=np.full(alive.shape, _MOST_WEIGHT),
            bound=np.full(len(bases), np.inf),
            package=np.full(len(bases), -1),
            order=np.zeros(alive.shape, dtype=np.int64),
            whole=np.zeros_like(alive),
        )
        return self._bounded(nodes.at(nodes.room >= 0), prices, _ROOT_ROUNDS, budget)

    def _children(self, nodes: _Nodes, prices: NDArray[np.int64], budget: Budget) -> _Nodes:
        """Return the nodes with their package held, and with it out."""
        rows = np.arange(len(nodes.bound))
        held, out = nodes.at(rows), nodes.at(rows)
        held.room -= held.free[rows, nodes.package]
        held.free[rows, nodes.package] = 0.0
        held.alive &= ~self._excludes.having(nodes.package)
        out.alive &= ~self._needs.having(nodes.package)
        both = held.at(held.room >= 0).with_more(out)
        return self._bounded(both, prices, _ROUNDS, budget)

    def _bounded(self, nodes: _Nodes, prices: NDArray[np.int64], rounds: int, budget: Budget) -> _Nodes:
        """Return the nodes with everything that follows from room, free and alive."""
        count = len(nodes.bound)
        budget.charge(_UNITS_A_BATCH + _UNITS_A_CELL * count * self._cells * (2 * rounds + 2))
        nodes.alive = nodes.alive & (self._needs.units(nodes.free) <= nodes.room[:, None])
        gains = np.where(nodes.alive, prices.astype(np.float64), 0.0)
        weights = np.maximum(nodes.weights, 2.0) * nodes.alive
        for turn in range(rounds):
            asked = self._needs.packages(weights)
            rates = np.divide(nodes.free * self._grain, asked, out=np.zeros_like(asked), where=asked > 0)
            shares = weights * self._needs.units(np.floor(rates)) / self._grain
            knapsack = _fractional(gains, shares, nodes.room)
            better = knapsack.value < nodes.bound if turn else np.ones(count, dtype=np.bool_)
            nodes.bound = np.where(better, np.minimum(knapsack.value, nodes.bound), nodes.bound)
            nodes.weights = np.where(better[:, None], weights, nodes.weights)
            nodes.order = np.where(better[:, None], knapsack.order, nodes.order)
            nodes.whole = np.where(better[:, None], knapsack.parts >= 1.0, nodes.whole)
            package = self._undecided(nodes.free, weights, asked, knapsack.parts, nodes.room)
            nodes.package = np.where(better, package, nodes.package)
            weights = _moved(weights, knapsack)
        return nodes

    def _undecided(
        self,
        free: NDArray[np.float64],
        weights: NDArray[np.float64],
        asked: NDArray[np.float64],
        parts: NDArray[np.float64],
        room: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Return the next package to decide of each node; -1 where the units taken whole are an image.

        That is one of which much is paid for and much is not; else one that is needed and excluded; else
        one that is needed, where rounding has hidden that there is no room for all.
        """
        paid = np.where(parts < 1.0, np.clip(np.floor(weights * parts), parts > 0, weights - 1), weights)
        share = np.divide(self._needs.packages(paid), asked, out=np.zeros_like(asked), where=asked > 0)
        score = free * share * (1.0 - share)
        taken = (parts > 0).astype(np.float64)
        used = self._needs.packages(taken) > 0
        clash = np.zeros_like(score)
        if self._excludes.count:
            clash = np.where(used & (self._excludes.packages(taken) > 0), 1.0, 0.0)
        over = np.where((used * free).sum(axis=1) > room, 1.0, 0.0)[:, None] * used * free
        package = np.full(len(room), -1)
        for rule in (over, clash, score) if score.size else ():
            package = np.where(rule.max(axis=1, initial=0.0) > 0, rule.argmax(axis=1), package)
        return package


def _fractional(
    gains: NDArray[np.float64], shares: NDArray[np.float64], room: NDArray[np.float64]
) -> _Knapsack:
    """Take the units that are worth most for what they weigh, the last of them in part."""
    worths = np.where(gains > 0, gains / np.maximum(shares, _TINY), -1.0)
    order = np.argsort(-worths, axis=1, kind="stable")
    weighed = np.take_along_axis(shares, order, 1)
    gained = np.take_along_axis(gains, order, 1)
    before = np.cumsum(weighed, axis=1) - weighed
    taken = np.clip((room[:, None] - before) / np.maximum(weighed, _TINY), 0.0, 1.0) * (gained > 0)
    parts = np.zeros_like(taken)
    np.put_along_axis(parts, order, taken, 1)
    last = np.minimum((taken >= 1.0).sum(axis=1), gains.shape[1] - 1)
    margin = np.take_along_axis(np.take_along_axis(worths, order, 1), last[:, None], 1)
    return _Knapsack(np.cumsum(taken * gained, axis=1)[:, -1], order, parts, worths, margin)


def _moved(weights: NDArray[np.float64], knapsack: _Knapsack) -> NDArray[np.float64]:
    """Let those carry more that are worth more than the last unit of the knapsack, and the others less."""
    step = knapsack.worths / np.where(knapsack.margin > 0, knapsack.margin, 1.0)
    step = np.where((knapsack.margin > 0) & (knapsack.worths > 0), step, 1.0)
    moved = weights * np.sqrt(np.clip(step, 1.0 / _MOST_STEP, _MOST_STEP))
    moved *= _MOST_WEIGHT / np.maximum(moved.max(axis=1, keepdims=True), 1.0)
    return np.where(weights > 0, np.clip(np.rint(moved), 2.0, _MOST_WEIGHT), 0.0)
