"""The best single image, by greedy and by exchange: a set-union knapsack.

The knapsack where items share what they weigh is that of Goldschmidt, Nehme & Yu 1994,
doi:10.1002/1520-6750(199410)41:6<833::AID-NAV3220410611>3.0.CO;2-Q.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.composition.problem import Image, Problem

_WORK = 400_000


def filled(problem: Problem, profits: Sequence[float], start: Image = (), barred: int = -1) -> Image:
    """Add units to an image by profit over the bytes they add, while there is one that fits."""
    units, size = problem.units, problem.size
    whole = problem.together(start)
    chosen = list(start)
    left = [u for u in range(len(units)) if profits[u] > 0 and u not in chosen and u != barred]
    while left:
        best, best_u, keep = (-1.0, 0.0), -1, []
        used, room, excluded = size(whole.needs), problem.room(whole.bases), whole.excludes
        for u in left:
            unit = units[u]
            if unit.needs & excluded or unit.excludes & whole.needs:
                continue
            added = size(unit.needs & ~whole.needs)
            common = unit.bases & whole.bases
            if used + added > (room if common == whole.bases else problem.room(common)):
                continue
            keep.append(u)
            score = (profits[u] / added, profits[u]) if added else (float("inf"), profits[u])
            if score > best:
                best, best_u = score, u
        if best_u >= 0:
            chosen.append(best_u)
            whole = whole.joined(units[best_u])
        left = [u for u in keep if u != best_u]
    return tuple(sorted(chosen))


def best_image(problem: Problem, profits: Sequence[float], start: Image = ()) -> Image:
    """Return an image of large profit; one unit after another is exchanged while that gains.

    The search ends after a fixed amount of work.
    """
    best = filled(problem, profits, start)
    value = sum(profits[u] for u in best)
    work = _WORK
    improved = True
    while improved:
        improved = False
        for leaving in best:
            work -= len(problem.units) * (1 + len(best))
            if work < 0:
                return best
            rest = tuple(u for u in best if u != leaving)
            other = filled(problem, profits, rest, leaving)
            gained = sum(profits[u] for u in other)
            if gained > value:
                best, value, improved = other, gained, True
                break
    return best
