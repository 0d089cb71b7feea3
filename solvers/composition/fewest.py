"""The fewest images that serve every unit: starts, bounds, search, proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.budget import Budget
from solvers.composition.columns import fewest_bound
from solvers.composition.covering_lp import covering_bound
from solvers.composition.dissolve import dissolved
from solvers.composition.ejection import ejection_search
from solvers.composition.listing import maximal_images
from solvers.composition.model import ImagesModel, ranked
from solvers.composition.overload import overload_and_remove
from solvers.composition.placement import best_fusion, by_size, first_fit
from solvers.composition.pricing import Listed
from solvers.composition.set_cover import Cover, cover
from solvers.composition.simple_bounds import clique, volume_bound
from solvers.composition.union_knapsack import UnionKnapsack
from solvers.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solvers.composition.columns import Columns
    from solvers.composition.problem import Image, Problem
    from solvers.result import Limits

_EARLY_SHARE = 0.05
_QUICK_SHARE = 0.1
_COLUMNS_SHARE = 0.4
_LISTING_SHARE = 0.35
_COVER_SHARE = 0.8
_PICK_SHARE = 0.3
_FEW_COLUMNS = 3000
_SOME_COLUMNS = 15_000
_MANY_COLUMNS = 100_000
_SEARCH_SHARE = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Images with their proof.

    Parameters
    ----------
    images
        Of units of the problem.
    bound
        In images, or in units of gain.
    apart
        Units that pairwise need different images, where that was looked at.
    methods
        What found and proved it, in a few words each.
    """

    images: tuple[Image, ...]
    bound: int
    apart: tuple[int, ...] = ()
    methods: tuple[str, ...] = ()


def starts(problem: Problem) -> tuple[tuple[str, tuple[Image, ...]], ...]:
    """Return what each heuristic finds, with its name."""
    order = by_size(problem)
    given = list(range(len(problem.units)))
    return (
        ("first fit by overlap", first_fit(problem, order)),
        ("best fusion", best_fusion(problem, order)),
        ("best fusion", best_fusion(problem, given)),
        ("overload-and-remove", overload_and_remove(problem, given)),
        ("overload-and-remove", overload_and_remove(problem, order)),
    )


class _State:
    """The best images and the best bound met so far."""

    def __init__(self, images: tuple[Image, ...], method: str) -> None:
        self.images = images
        self.lower = 0
        self.found = method
        self.bounded = ""

    def offer(self, images: Iterable[Image], method: str) -> None:
        """Keep images that serve everything if they are fewer."""
        held = tuple(image for image in images if image)
        if len(held) < len(self.images):
            self.images, self.found = held, method

    def raise_to(self, lower: int, method: str) -> None:
        """Keep a larger bound."""
        if lower > self.lower:
            self.lower, self.bounded = lower, method

    @property
    def proven(self) -> bool:
        """Whether the bound meets the images."""
        return self.lower >= len(self.images)


def fewest(problem: Problem, limits: Limits) -> Answer:
    """Serve all units, each of which fits alone, with as few images as can be found and proven."""
    name, images = min(starts(problem), key=lambda pair: len(pair[1]))
    state = _State(dissolved(problem, images), name)
    apart = clique(problem)
    state.raise_to(volume_bound(problem), "volume bound")
    state.raise_to(len(apart), "clique bound")
    budget = Budget(left=limits.deterministic_time)
    _decide(problem, state, apart, budget.part(_EARLY_SHARE), limits.seed)
    _descend(problem, state, (), budget.part(_QUICK_SHARE), limits.seed)
    known: tuple[Image, ...] = ()
    if not (state.proven or budget.spent):
        listing = maximal_images(problem, budget.part(_LISTING_SHARE))
        if listing:
            listed = Listed(listing)
            columns = covering_bound(problem, state.images, listed, budget.part(_COLUMNS_SHARE))
            state.raise_to(columns.bound, "column generation")
            known = listed.most(columns.prices, _FEW_COLUMNS)
            _cover(problem, state, listed, columns, budget.part(_COVER_SHARE))
        else:
            pricing = UnionKnapsack(problem)
            columns = fewest_bound(problem, state.images, pricing, budget.part(_COLUMNS_SHARE))
            state.raise_to(columns.bound, "column generation")
            known = tuple(columns.images)
    _descend(problem, state, known, budget.part(_SEARCH_SHARE), limits.seed)
    _decide(problem, state, apart, budget, limits.seed)
    return Answer(images=state.images, bound=state.lower, apart=apart, methods=(state.found, state.bounded))


def _descend(problem: Problem, state: _State, known: tuple[Image, ...], budget: Budget, seed: int) -> None:
    """Look for one image less, by picking among the known images and by search."""
    while not (state.proven or budget.spent):
        count = len(state.images) - 1
        part = Budget(left=_PICK_SHARE * budget.left, whole=budget)
        found, method = cover(len(problem.units), known, count, part).images, "set covering"
        if not found:
            start = sorted(state.images, key=len, reverse=True)
            found, method = ejection_search(problem, start, count, budget, seed), "ejection search"
        if not found:
            break
        state.offer(_once(found), method)


def _once(images: tuple[Image, ...]) -> tuple[Image, ...]:
    """Return the images with each unit only where it is first."""
    seen: set[int] = set()
    once = []
    for image in images:
        once.append(tuple(u for u in image if u not in seen))
        seen.update(image)
    return tuple(image for image in once if image)


def _cover(problem: Problem, state: _State, listed: Listed, columns: Columns, budget: Budget) -> None:
    """Ask whether as many of all maximal images as the bound says serve everything.

    An image can be among `count` that do only if it is worth at least what is left of the sum of the
    prices when the others are worth most. The most valuable ones are tried first.
    """
    while not (state.proven or budget.spent) and columns.worth:
        count = state.lower
        least = int(columns.prices.sum()) - (count - 1) * columns.worth
        worths = listed.priced(columns.prices, budget)
        usable = np.flatnonzero(worths >= least)
        found = Cover(status=Status.UNKNOWN)
        if len(usable) > _SOME_COLUMNS:
            best = listed.most(columns.prices, _FEW_COLUMNS)
            found = cover(len(problem.units), best, count, budget.part(_PICK_SHARE))
        if not found.images and len(usable) <= _MANY_COLUMNS:
            found = cover(len(problem.units), listed.images_at(usable), count, budget)
        if found.images:
            state.offer(_once(found.images), "set covering")
        elif found.status is Status.INFEASIBLE and len(usable) <= _MANY_COLUMNS:
            state.raise_to(count + 1, "set covering")
        else:
            break


def _decide(problem: Problem, state: _State, apart: tuple[int, ...], budget: Budget, seed: int) -> None:
    """Ask CP-SAT whether as many images as the bound says are enough, and raise the bound if not."""
    while not (state.proven or budget.spent):
        model = ImagesModel(problem, state.lower)
        budget.charge(model.building_units)
        model.serve_all()
        ranks = model.order_images(apart)
        model.hint(ranked(state.images, ranks)[: state.lower])
        outcome = model.solve(budget, seed)
        if outcome.status is Status.INFEASIBLE:
            state.raise_to(state.lower + 1, "CP-SAT")
        elif outcome.images:
            state.offer(outcome.images, "CP-SAT")
        else:
            break
