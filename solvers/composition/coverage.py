"""What at most K images are worth most: starts, bounds, search, proof."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from solvers.budget import Budget
from solvers.composition.columns import coverage_bound
from solvers.composition.cover import CoverModel
from solvers.composition.fewest import Answer
from solvers.composition.greedy import greedy_images, refilled
from solvers.composition.listing import maximal_images
from solvers.composition.model import ImagesModel, ranked
from solvers.composition.neighbourhood import searched
from solvers.composition.pricing import Listed
from solvers.composition.simple_bounds import coverage_volume_bound
from solvers.composition.union_knapsack import UnionKnapsack

if TYPE_CHECKING:
    from solvers.composition.problem import Image, Problem
    from solvers.result import Limits

_COLUMNS_SHARE = 0.6
_LISTING_SHARE = 0.3
_MANY_IMAGES = 100_000
_COVER_SHARE = 0.4
_SEARCH_SHARE = 0.4
_FEW_IMAGES = 2


@dataclass(slots=True, kw_only=True)
class Memory:
    """What one number of images leaves to the next.

    Parameters
    ----------
    images
        The best images.
    columns
        Every image met by column generation.
    pricing
        A way to the best single image.
    """

    images: tuple[Image, ...] = ()
    columns: tuple[Image, ...] = ()
    pricing: Listed | UnionKnapsack | None = None


class _State:
    """The best images and the best bound met so far."""

    def __init__(self, problem: Problem, images: tuple[Image, ...]) -> None:
        self._problem = problem
        self.images = images
        self.value = problem.gain(images)
        self.upper, self.bounded = problem.gain([range(len(problem.units))]), "all served"
        self.step = gcd(*(unit.gain for unit in problem.units)) or 1
        self.found = "greedy"

    def offer(self, images: tuple[Image, ...], method: str) -> None:
        """Keep images that are worth more."""
        value = self._problem.gain(images)
        if value > self.value:
            self.images, self.value, self.found = images, value, method

    def lower_to(self, upper: int | None, method: str) -> None:
        """Keep a smaller bound; what can be reached is a multiple of what all gains are multiples of."""
        if upper is not None and upper // self.step * self.step < self.upper:
            self.upper, self.bounded = max(upper // self.step * self.step, self.value), method

    @property
    def proven(self) -> bool:
        """Whether the bound meets the images."""
        return self.upper <= self.value


def coverage(problem: Problem, count: int, limits: Limits, memory: Memory | None = None) -> Answer:
    """Serve units, each of which fits alone, with at most `count` images, as valuably as can be found.

    Parameters
    ----------
    memory
        Of the same problem with fewer images; it is brought up to date.
    """
    memory = memory or Memory()
    state = _State(problem, greedy_images(problem, count))
    state.offer(refilled(problem, state.images, count), "greedy, refilled")
    state.offer(refilled(problem, memory.images, count), "the images before, refilled")
    state.lower_to(coverage_volume_bound(problem, count), "volume bound")
    budget = Budget(left=limits.deterministic_time)
    if not (state.proven or budget.spent):
        part = budget.part(_COLUMNS_SHARE)
        pricing = memory.pricing or _pricing(problem, part.part(_LISTING_SHARE))
        columns = coverage_bound(problem, count, state.images, pricing, part, met=memory.columns)
        memory.pricing, memory.columns = pricing, tuple(columns.images)
        state.lower_to(columns.bound, "column generation")
        usable = tuple(columns.images)
        if isinstance(pricing, Listed):
            # the others cannot be part of anything better
            left = problem.gain([range(len(problem.units))]) - int(columns.prices.sum())
            least = state.value + state.step - left - (count - 1) * columns.worth if columns.worth else 0
            usable = pricing.at_least(columns.prices, least)
        part = Budget(left=_COVER_SHARE * budget.left, whole=budget)
        model = CoverModel(problem, usable, count)
        model.serve_most()
        state.offer(model.solve(part, limits.seed), "picked columns")
        if isinstance(pricing, Listed):
            state.lower_to(model.bound, "set covering")
    if count > _FEW_IMAGES and not (state.proven or budget.spent):
        part = budget.part(_SEARCH_SHARE)
        found = searched(problem, state.images, count, part, limits.seed)
        state.offer(found, "large-neighbourhood search")
    if not (state.proven or budget.spent):
        images = ImagesModel(problem, count)
        budget.charge(images.building_units)
        images.model.maximize(images.serve_at_most_once())
        images.hint(ranked(state.images, images.order_images()))
        outcome = images.solve(budget, limits.seed, linearization=2)
        state.offer(outcome.images, "CP-SAT")
        state.lower_to(outcome.bound, "CP-SAT")
    memory.images = state.images
    return Answer(images=state.images, bound=state.upper, methods=(state.found, state.bounded))


def _pricing(problem: Problem, budget: Budget) -> Listed | UnionKnapsack:
    """Return a list of all images where it is short."""
    listed = maximal_images(problem, budget, _MANY_IMAGES)
    return Listed(listed) if listed else UnionKnapsack(problem)
