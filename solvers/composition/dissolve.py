"""Local search on the number of images: move units out of one image, displacing others, until it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.composition.placement import OpenImage, frozen

if TYPE_CHECKING:
    from solvers.composition.problem import Image, Problem


def dissolved(problem: Problem, images: tuple[Image, ...]) -> tuple[Image, ...]:
    """Return as many images or fewer, serving the same units.

    Smallest first, each image is emptied into the others: a unit moves to the image where it adds the
    fewest bytes, or takes the place of one other unit that in turn fits elsewhere.
    """
    while True:
        order = sorted(range(len(images)), key=lambda k: (problem.size(problem.together(images[k]).needs), k))
        for k in order:
            rest = _without(problem, images, k)
            if rest is not None:
                images = rest
                break
        else:
            return images


def _without(problem: Problem, images: tuple[Image, ...], k: int) -> tuple[Image, ...] | None:
    opened = []
    for place, image in enumerate(images):
        if place != k:
            opened.append(OpenImage(problem))
            for u in image:
                opened[-1].put(u)
    for u in sorted(images[k], key=lambda u: (-problem.size(problem.units[u].needs), u)):
        if not (_moved(problem, opened, u) or _swapped(problem, opened, u)):
            return None
    return frozen(opened)


def _moved(problem: Problem, opened: list[OpenImage], u: int) -> bool:
    needs = problem.units[u].needs
    fitting = [image for image in opened if image.holds(u)]
    if fitting:
        min(fitting, key=lambda image: problem.size(needs & ~image.whole.needs)).put(u)
    return bool(fitting)


def _swapped(problem: Problem, opened: list[OpenImage], u: int) -> bool:
    """Put u in place of one unit that fits elsewhere, if there is such a place."""
    for image in opened:
        for v in tuple(image.units):
            image.take(v)
            others = [other for other in opened if other is not image]
            if image.holds(u) and _moved(problem, others, v):
                image.put(u)
                return True
            image.put(v)
    return False
