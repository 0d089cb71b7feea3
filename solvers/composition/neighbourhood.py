"""Large-neighbourhood search: two to four images are made anew by CP-SAT, the others stay.

After Shaw 1998, doi:10.1007/3-540-49481-2_30.
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
    problem: Problem, images: tuple[Image, ...], count: int, budget: Budget, seed: int
) -> tuple[Image, ...]:
    """Return `count` images worth at least as much as `images`, within the budget."""
    random = Random(seed)  # noqa: S311 -- a seeded choice of neighbourhoods, no secret
    images = (*images, *[()] * (count - len(images)))
    total = problem.gain([range(len(problem.units))])
    for _ in range(_MAX_STEPS):
        if budget.spent or not count or problem.gain(images) == total:
            break
        images = _remade(problem, images, _related(problem, images, random), budget, random)
    return tuple(image for image in images if image)


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
