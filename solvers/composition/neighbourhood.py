"""Large-neighbourhood search: two to four images are made anew by CP-SAT, the others stay.

After Shaw 1998, doi:10.1007/3-540-49481-2_30. Where everything is to be served, a unit that is left out
weighs more from step to step, as in breakout search (Morris 1993).
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from solvers.budget import Budget
from solvers.composition.greedy import remaining
from solvers.composition.model import ImagesModel

if TYPE_CHECKING:
    from solvers.composition.problem import Image, Problem

_STEP_UNITS = 0.5
_LEAST_UNITS = 1e-3
_TIE_UNITS = 64
_MAX_STEPS = 5000


def searched(
    problem: Problem, images: tuple[Image, ...], count: int, budget: Budget, seed: int, *, all_served: bool
) -> tuple[Image, ...]:
    """Return `count` images at least as good as `images`, within the budget.

    Parameters
    ----------
    all_served
        Whether gains only steer: the search ends when all units are served.
    """
    random = Random(seed)  # noqa: S311 -- a seeded choice of neighbourhoods, no secret
    images = (*images, *[()] * (count - len(images)))
    gains = [unit.gain for unit in problem.units]
    total = sum(gains)
    best, best_gain = images, problem.gain(images)
    for _ in range(_MAX_STEPS):
        if budget.spent or best_gain == total or not count:
            break
        steering = problem.with_gains(gains)
        freed = _related(steering, images, random)
        images = _remade(steering, images, freed, budget, random)
        gain = problem.gain(images)
        if gain > best_gain:
            best, best_gain = images, gain
        if all_served:
            left = remaining(problem, images)
            gains = [value + (1 if rest else 0) for value, rest in zip(gains, left, strict=True)]
    return tuple(image for image in best if image)


def _related(problem: Problem, images: tuple[Image, ...], random: Random) -> list[int]:
    """Choose two to four images: one at random, then those that overlap it or a unit left out, by chance."""
    count = min(len(images), random.choice((2, 2, 3, 3, 4)))
    left = [u for u, gain in enumerate(remaining(problem, images)) if gain]
    asked = problem.units[random.choice(left)].needs if left else 0
    wholes = [problem.together(image).needs for image in images]
    first = random.randrange(len(images))
    near = asked | wholes[first]
    scores = [(problem.size(whole & near) * random.random(), k) for k, whole in enumerate(wholes)]
    others = [k for _, k in sorted(scores, reverse=True) if k != first]
    return sorted([first, *others[: count - 1]])


def _remade(
    problem: Problem, images: tuple[Image, ...], freed: list[int], budget: Budget, random: Random
) -> tuple[Image, ...]:
    """Return the images with those in `freed` made anew for what the others do not serve."""
    others = tuple(image for k, image in enumerate(images) if k not in freed)
    gains = remaining(problem, others)
    names = [u for u, gain in enumerate(gains) if gain > 0]
    place = {u: n for n, u in enumerate(names)}
    # small random extras decide between answers of equal worth, so that the search moves on
    weighted = [gains[u] * _TIE_UNITS * len(names) + random.randrange(_TIE_UNITS) for u in names]
    part = problem.with_units(tuple(problem.units[u] for u in names)).with_gains(weighted)
    known = tuple(tuple(place[u] for u in images[k] if u in place) for k in freed)
    model = ImagesModel(part, len(freed))
    budget.charge(model.building_units + _LEAST_UNITS)
    worth = model.serve_at_most_once()
    model.model.maximize(worth)
    model.hint(known)
    step = Budget(left=min(_STEP_UNITS, max(budget.left, 0.0)), whole=budget)
    outcome = model.solve(step, random.randrange(2**31))
    made = outcome.images if outcome.images and part.gain(outcome.images) >= part.gain(known) else known
    answer = list(images)
    for k, image in zip(freed, made, strict=True):
        answer[k] = tuple(names[n] for n in image)
    return tuple(answer)
