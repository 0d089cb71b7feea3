"""Ejection search: feasible images, and a pool of units left out that push their way in.

A unit of the pool enters the image where least has to leave for it; what leaves joins the pool. A unit that
had to push weighs more from then on, so the hard ones settle and the easy ones move, as in the route
minimisation of Nagata & Bräysy 2009, doi:10.1016/j.orl.2009.04.006. In between, units change places so that
they share more, by descent on the bytes of all images and a random term (the noising method of Charon &
Hudry 1993, doi:10.1016/0167-6377(93)90023-A).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.composition.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.budget import Budget
    from solvers.composition.layout import Floats
    from solvers.composition.problem import Image, Problem

_MOVES = 24
_NOISE = 0.15
_STEPS_A_PUSH = 12


def ejection_search(
    problem: Problem, images: Sequence[Image], count: int, budget: Budget, seed: int
) -> tuple[Image, ...]:
    """Return `count` images that serve every unit, each once; none where the budget does not suffice.

    Parameters
    ----------
    images
        Images that fit, of which the first `count` are the start; a unit counts where it is first.
    """
    rng = np.random.default_rng(seed)
    layout = Layout(problem, images[:count], count)
    weights = np.ones(len(problem.units))
    _insert(layout)
    while layout.pool.size:
        if budget.spent or not count:
            return ()
        u = int(rng.choice(layout.pool))
        weights[u] += 1
        _push(layout, u, weights, rng)
        _share(layout, rng)
        _insert(layout)
        budget.charge_steps(_STEPS_A_PUSH, layout.cells)
    return layout.images()


def _push(layout: Layout, u: int, weights: Floats, rng: np.random.Generator) -> None:
    """Put a unit where the least weight leaves, by chance among equals."""
    cost, leaving = layout.evictions(u, weights)
    k = int(rng.choice(np.flatnonzero(cost == cost.min())))
    layout.move(np.flatnonzero(leaving[k]).tolist(), -1)
    layout.move([u], k)


def _share(layout: Layout, rng: np.random.Generator) -> None:
    """Move units to other images while that lowers the bytes and the noise, the best move first."""
    noise = _NOISE * layout.bytes_needed.mean() * rng.random(layout.added.shape)
    for _ in range(_MOVES):
        placed = np.flatnonzero(layout.place >= 0)
        change = layout.added[:, placed] + noise[:, placed]
        change -= layout.freed[placed] + noise[layout.place[placed], placed]
        change[(layout.spare[:, placed] < 0) | layout.inside[:, placed]] = np.inf
        k, best = np.unravel_index(change.argmin(), change.shape)
        if change[k, best] >= 0:
            return
        layout.move([int(placed[best])], int(k))


def _insert(layout: Layout) -> None:
    """Put units of the pool where they fit, those that add the fewest bytes first."""
    while (pool := layout.pool).size:
        added = np.where(layout.spare[:, pool] >= 0, layout.added[:, pool], np.inf)
        if not np.isfinite(added).any():
            return
        k, best = np.unravel_index(added.argmin(), added.shape)
        layout.move([int(pool[best])], int(k))
