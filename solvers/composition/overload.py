"""Overload-and-remove: let an image overflow, then evict what shares least.

Grange, Kacem & Martin 2018, doi:10.1016/j.cie.2017.10.015, section "Overload-and-Remove".
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from solvers.composition.placement import OpenImage, first_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.composition.problem import Image, Problem

_SAME = 1e-9


def overload_and_remove(problem: Problem, order: Sequence[int]) -> tuple[Image, ...]:
    """Return images that serve every unit.

    A unit goes where its share of the bytes is least, even if the image overflows; then the units
    with the worst ratio of bytes to share leave, never to return to that image, until it fits or all are
    alike. What is still overloaded in the end is emptied and placed by first fit.
    """
    sizes = [problem.size(unit.needs) for unit in problem.units]
    waiting = deque(order)
    opened: list[OpenImage] = []
    left: list[set[int]] = [set() for _ in problem.units]
    while waiting:
        u = waiting.popleft()
        open_to = [k for k, image in enumerate(opened) if k not in left[u] and image.admits(u)]
        shares = {k: opened[k].share(u, inside=False) for k in open_to}
        place = min(open_to, key=lambda k: (shares[k], k), default=None)
        if place is None or shares[place] >= sizes[u] > 0:
            opened.append(OpenImage(problem))
            opened[-1].put(u)
            continue
        image = opened[place]
        image.put(u)
        while image.overloaded:
            ratio = {v: sizes[v] / max(image.share(v, inside=True), _SAME) for v in image.units}
            worst = min(image.units, key=lambda v: (ratio[v], v))
            if max(ratio.values()) - ratio[worst] <= _SAME:
                break
            image.take(worst)
            left[worst].add(place)
            waiting.append(worst)
    stranded = [u for image in opened if image.overloaded for u in image.units]
    return first_fit(problem, stranded, [image for image in opened if not image.overloaded])
