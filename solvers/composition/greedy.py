"""Greedy coverage with at most K images, and re-filling one image after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.composition.knapsack import best_image

if TYPE_CHECKING:
    from solvers.composition.problem import Image, Problem

_ROUNDS = 20


def remaining(problem: Problem, images: tuple[Image, ...]) -> list[int]:
    """Return the gain of each unit, 0 for those in `images`."""
    served = {u for image in images for u in image}
    return [0 if u in served else unit.gain for u, unit in enumerate(problem.units)]


def greedy_images(problem: Problem, count: int, start: tuple[Image, ...] = ()) -> tuple[Image, ...]:
    """Add the best image for what is not served yet, until there are `count` or all is served."""
    images = start
    while len(images) < count:
        image = best_image(problem, remaining(problem, images))
        if not image:
            break
        images = (*images, image)
    return images


def refilled(problem: Problem, images: tuple[Image, ...], count: int) -> tuple[Image, ...]:
    """Return images at least as good: each in turn is made anew for what the others do not serve."""
    for _ in range(_ROUNDS):
        before = problem.gain(images)
        for k in range(len(images)):
            others = images[:k] + images[k + 1 :]
            gains = remaining(problem, others)
            kept = tuple(u for u in images[k] if gains[u] > 0)
            options = [best_image(problem, gains), best_image(problem, gains, kept)]
            best = max(options, key=lambda image: sum(gains[u] for u in image))
            if sum(gains[u] for u in best) > sum(gains[u] for u in kept):
                images = (*others, best)
        images = greedy_images(problem, count, tuple(image for image in images if image))
        if problem.gain(images) <= before:
            break
    return images
