"""One unit after another onto the image where it overlaps most: first fit by overlap and best fusion.

Grange, Kacem & Martin 2018, doi:10.1016/j.cie.2017.10.015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solvers.composition.problem import Image, Problem, Unit


class OpenImage:
    """An image that is being filled.

    Attributes
    ----------
    units
        What is in it, in the order of arrival.
    whole
        What they ask for together.
    counts
        For each package how many of the units need it.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.units: list[int] = []
        self.whole: Unit = problem.empty
        self.counts = np.zeros(len(problem.sizes))

    def put(self, u: int) -> None:
        """Add a unit."""
        self.units.append(u)
        self.whole = self.whole.joined(self._problem.units[u])
        self.counts[self._problem.needed[u]] += 1

    def take(self, u: int) -> None:
        """Remove a unit."""
        self.units.remove(u)
        self.whole = self._problem.together(self.units)
        self.counts[self._problem.needed[u]] -= 1

    def admits(self, u: int) -> bool:
        """Say whether the unit could be added if bytes did not matter."""
        whole = self.whole.joined(self._problem.units[u])
        return not whole.needs & whole.excludes and self._problem.room(whole.bases) >= 0

    def holds(self, u: int) -> bool:
        """Say whether the unit can be added."""
        return self._problem.fits(self.whole.joined(self._problem.units[u]))

    @property
    def overloaded(self) -> bool:
        """Whether it holds more than fits."""
        return not self._problem.fits(self.whole)

    def share(self, u: int, *, inside: bool) -> float:
        """Return the bytes of a unit, each package divided by the units that (would) share it."""
        packages = self._problem.needed[u]
        sharing = self.counts[packages] + (0 if inside else 1)
        return float((self._problem.package_sizes[packages] / sharing).sum())


def frozen(images: Iterable[OpenImage]) -> tuple[Image, ...]:
    """Return the images that hold something."""
    return tuple(tuple(sorted(image.units)) for image in images if image.units)


def by_size(problem: Problem) -> list[int]:
    """Return the units, largest first."""
    return sorted(range(len(problem.units)), key=lambda u: (-problem.size(problem.units[u].needs), u))


def first_fit(problem: Problem, order: Sequence[int], images: Iterable[OpenImage] = ()) -> tuple[Image, ...]:
    """Put each unit on the image that it fits on and adds the fewest bytes to, else on a new one."""
    opened = list(images)
    for u in order:
        needs = problem.units[u].needs
        fitting = [image for image in opened if image.holds(u)]
        if not fitting:
            opened.append(OpenImage(problem))
            fitting = opened[-1:]
        min(fitting, key=lambda image: problem.size(needs & ~image.whole.needs)).put(u)
    return frozen(opened)


def best_fusion(problem: Problem, order: Sequence[int]) -> tuple[Image, ...]:
    """Put each unit on the image where its share is least, on a new one where nothing is shared."""
    opened: list[OpenImage] = []
    for u in order:
        whole = problem.size(problem.units[u].needs)
        fitting = [image for image in opened if image.holds(u)]
        best = min(fitting, key=lambda image: image.share(u, inside=False), default=None)
        if best is None or best.share(u, inside=False) >= whole > 0:
            best = OpenImage(problem)
            opened.append(best)
        best.put(u)
    return frozen(opened)
