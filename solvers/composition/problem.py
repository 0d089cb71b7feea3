"""The integer problem that every composition algorithm works on.

Everything that an image may be asked for becomes a *unit*: a set of packages that it needs, a set that
it excludes, and the bases it runs on. Units can share an image if together they exclude nothing that
they need, some base is left, and it fits. "Class i is served with its venv baked" is a unit, and so is
"class i is served at run time", which needs nothing; a class that has the first can have the second in
the same image, so what the first adds is worth `baked - fallback` and the worth of a plan is a plain sum
over the units in it. Conflicting packages exclude each other through the units that need them.

Sets are bit masks. Gains are whole numbers (as in `solvers.selection.problem`), so a bound that meets
an objective is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Image = tuple[int, ...]
"""The units in one image, ascending."""


def members(mask: int) -> list[int]:
    """Return the positions of the bits in `mask`, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def mask_of(positions: Iterable[int]) -> int:
    """Return the mask with the bits at `positions`."""
    mask = 0
    for position in positions:
        mask |= 1 << int(position)
    return mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Something that an image may be asked for.

    Parameters
    ----------
    needs, excludes
        Masks of packages that must, and must not, be in the image.
    bases
        Mask of the bases it can have.
    gain
        What serving it is worth, >= 0.
    """

    needs: int
    excludes: int
    bases: int
    gain: int = 0

    def joined(self, other: Unit) -> Unit:
        """Return what both ask for."""
        return Unit(
            needs=self.needs | other.needs,
            excludes=self.excludes | other.excludes,
            bases=self.bases & other.bases,
            gain=self.gain + other.gain,
        )

    def implies(self, other: Unit) -> bool:
        """Say whether every image that serves this serves `other`."""
        return not (other.needs & ~self.needs or other.excludes & ~self.excludes or self.bases & ~other.bases)


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Units to serve with images under one cap.

    Parameters
    ----------
    sizes, base_sizes
        Whole numbers >= 0.
    capacity
        Of one image.
    units
        What can be served.
    """

    sizes: tuple[int, ...]
    base_sizes: tuple[int, ...]
    capacity: int
    units: tuple[Unit, ...]

    @property
    def empty(self) -> Unit:
        """What an image with nothing in it asks for."""
        return Unit(needs=0, excludes=0, bases=(1 << len(self.base_sizes)) - 1)

    @cached_property
    def _tables(self) -> list[list[int]]:
        """The total size of each of the 256 subsets of every eight packages."""
        tables = []
        for start in range(0, len(self.sizes), 8):
            table = [0]
            for size in self.sizes[start : start + 8]:
                table += [total + size for total in table]
            tables.append(table)
        return tables

    def size(self, needs: int) -> int:
        """Return the total size of a mask of packages."""
        return sum(map(getitem, self._tables, needs.to_bytes(len(self._tables), "little")))

    @cached_property
    def needed(self) -> tuple[NDArray[np.int64], ...]:
        """For each unit the packages it needs, ascending."""
        return tuple(np.array(members(unit.needs), dtype=np.int64) for unit in self.units)

    @cached_property
    def package_sizes(self) -> NDArray[np.float64]:
        """The sizes for estimates; shape (packages,)."""
        return np.array(self.sizes, dtype=np.float64)

    @cached_property
    def _base_order(self) -> list[int]:
        return sorted(range(len(self.base_sizes)), key=lambda b: (self.base_sizes[b], b))

    def base(self, bases: int) -> int | None:
        """Return the smallest of a mask of bases, None where there is none."""
        return next((b for b in self._base_order if bases >> b & 1), None)

    @cached_property
    def room(self) -> Room:
        """The bytes for packages that a mask of bases leaves."""
        return Room(self)

    def fits(self, whole: Unit) -> bool:
        """Say whether one image can have all that `whole` asks for."""
        return not whole.needs & whole.excludes and self.size(whole.needs) <= self.room(whole.bases)

    def together(self, image: Iterable[int]) -> Unit:
        """Return what the units of an image ask for together."""
        whole = self.empty
        for u in image:
            whole = whole.joined(self.units[u])
        return whole

    def closed(self, image: Iterable[int]) -> Image:
        """Return `image` with every unit that it serves without any change, then those that cost no bytes."""
        chosen = set(image)
        whole = self.together(sorted(chosen))
        for u, unit in enumerate(self.units):
            if u not in chosen and not unit.needs & ~whole.needs:
                joined = whole.joined(unit)
                if self.fits(joined):
                    whole = joined
                    chosen.add(u)
        return tuple(sorted(chosen))

    def gain(self, images: Iterable[Iterable[int]]) -> int:
        """Return what the units in `images` are worth, each counted once."""
        return sum(self.units[u].gain for u in {u for image in images for u in image})

    def with_gains(self, gains: Sequence[int]) -> Problem:
        """Return the problem with other gains."""
        units = tuple(replace(unit, gain=gain) for unit, gain in zip(self.units, gains, strict=True))
        return self.with_units(units)

    def with_units(self, units: tuple[Unit, ...]) -> Problem:
        """Return the problem with other units over the same packages and bases."""
        problem = replace(self, units=units)
        problem.__dict__["_tables"] = self._tables
        problem.__dict__["room"] = self.room
        return problem


class Room:
    """The bytes that are left for packages on the smallest of a mask of bases; below 0 where none fits."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._known: dict[int, int] = {}

    def __call__(self, bases: int) -> int:
        """Return the bytes left."""
        room = self._known.get(bases)
        if room is None:
            base = self._problem.base(bases)
            room = -1 if base is None else self._problem.capacity - self._problem.base_sizes[base]
            self._known[bases] = room
        return room
