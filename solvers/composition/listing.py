"""Every maximal image, where they are few enough to list.

An image serves whatever its units imply, so only sets that are closed in this sense need be looked at;
each is met once (Kuznetsov's close-by-one, 1993). Where an image has room for few units, as in the
hardest of the pagination instances, there are thousands of them, sometimes millions, and composition becomes
a set-covering problem with all columns known.

The search goes depth first, but some thousands of sets at a time, as the rows of matrices: what each unit
would add to each set is one matrix product. All numbers in it are whole, and small enough to be exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.composition.problem import members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

    Bits = NDArray[np.bool_]
    Numbers = NDArray[np.floating[Any]]

MANY = 10**7
"""So many images can be held."""

_AT_ONCE = 4096
_MAX_CELLS = 60_000_000
_TRIAL_SHARE = 0.1
_UNITS_A_ROUND = 5e-4
_UNITS_A_PRODUCT = 2e-11
_UNITS_A_CELL = 4e-9
_MANY_UNITS = 2**15
_EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Images:
    """Many images, none empty, in little memory.

    Parameters
    ----------
    units
        The units of one image after the other, ascending within each.
    ends
        For each image where its units end.
    """

    units: NDArray[np.int16] | NDArray[np.int32]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ends)

    def __getitem__(self, place: int) -> Image:
        """Return one of them."""
        start = int(self.ends[place - 1]) if place else 0
        return tuple(self.units[start : int(self.ends[place])].tolist())

    def __iter__(self) -> Iterator[Image]:
        """Return one after the other."""
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Sets:
    """Closed sets of units, one a row: what is in them, what fits besides, what they ask for.

    `least` is the least unit that may still be added, `share` an estimate of what part of the search the set
    and its extensions are.
    """

    units: Bits
    fitting: Bits
    least: NDArray[np.int64]
    share: NDArray[np.float64]
    needs: Bits
    excludes: Bits
    bases: Bits

    def __len__(self) -> int:
        return len(self.least)

    def rows(self, start: int, stop: int) -> _Sets:
        """Return some of them."""
        return _Sets(**{name: getattr(self, name)[start:stop] for name in self.__slots__})

    @staticmethod
    def joined(parts: Sequence[_Sets]) -> _Sets:
        """Return all sets in one."""
        if len(parts) == 1:
            return parts[0]
        return _Sets(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _Sets.__slots__}
        )


class _Tables:
    """The units as matrices."""

    def __init__(self, problem: Problem) -> None:
        units, packages, bases = problem.units, len(problem.sizes), len(problem.base_sizes)
        self.needs = _bits([unit.needs for unit in units], packages)
        self.excludes = _bits([unit.excludes for unit in units], packages)
        self.bases = _bits([unit.bases for unit in units], bases)
        kind = np.float32 if sum(problem.sizes) < _EXACT_IN_FLOAT32 else np.float64
        self._sizes: Numbers = np.array(problem.sizes, dtype=kind)
        self._needed: Numbers = self.needs.T.astype(kind, order="C")
        self._sized: Numbers = self._needed * self._sizes[:, None]
        self._excluded: Numbers = self.excludes.T.astype(kind, order="C")
        self._unfit: Numbers = (~self.bases).T.astype(kind, order="C")
        self._rooms = [problem.capacity - size for size in problem.base_sizes]
        self._all_sized = min(problem.sizes, default=1) > 0
        self._exclusive = bool(self.excludes.any())

    def look(self, needs: Bits, excludes: Bits, bases: Bits) -> tuple[Bits, Bits]:
        """Return which units are implied by what sets ask for, and which fit; shapes (sets, units)."""
        kind = self._sizes.dtype
        lacking = (~needs).astype(kind)
        added = lacking @ self._sized
        implied = added == 0 if self._all_sized else lacking @ self._needed == 0
        used = needs @ self._sizes
        fits = np.zeros(added.shape, dtype=np.bool_)
        for b, room in enumerate(self._rooms):
            fits |= (added <= (room - used)[:, None]) & bases[:, b, None] & self.bases[:, b]
        if len(self._rooms) > 1:
            implied &= bases.astype(kind) @ self._unfit == 0
        if self._exclusive:
            fits &= needs.astype(kind) @ self._excluded == 0
            fits &= excludes.astype(kind) @ self._needed == 0
            implied &= (~excludes).astype(kind) @ self._excluded == 0
        return implied, fits


def _bits(masks: list[int], width: int) -> Bits:
    matrix = np.zeros((len(masks), width), dtype=np.bool_)
    for row, mask in enumerate(masks):
        matrix[row, members(mask)] = True
    return matrix


def maximal_images(problem: Problem, budget: Budget, most: int = MANY) -> Images | None:
    """Return all images to which no unit can be added; None where there are too many.

    Parameters
    ----------
    budget
        The search ends when it is spent, and early where it is not going to be enough.
    most
        As many images are not too many.
    """
    count = len(problem.units)
    # the largest first: those that were passed over then seldom fit in the end
    order = sorted(range(count), key=lambda u: (-problem.size(problem.units[u].needs), u))
    problem = problem.with_units(tuple(problem.units[u] for u in order))
    place = np.argsort(np.array(order, dtype=np.int64))
    tables = _Tables(problem)
    kind = np.int16 if count < _MANY_UNITS else np.int32
    stack, found, lengths, images, cells = [_nothing(problem)], [], [], 0, 0
    a_set = _UNITS_A_PRODUCT * count * len(problem.sizes) + _UNITS_A_CELL * (count + len(problem.sizes))
    done, given = 0.0, budget.left
    while stack:
        used = given - budget.left
        hopeless = used > _TRIAL_SHARE * given and used > done * given
        if budget.spent or hopeless or images > most or cells > _MAX_CELLS:
            return None
        sets, rows, added = _taken(stack)
        budget.charge(_UNITS_A_ROUND + a_set * len(rows))
        done += float(sets.share[rows].sum())
        for start in range(0, len(rows), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            larger, maximal = _extended(tables, sets, rows[part], added[part])
            if len(larger):
                stack.append(larger)
                done -= float(larger.share.sum())
            found.append(np.nonzero(maximal[:, place])[1].astype(kind))
            lengths.append(np.count_nonzero(maximal, axis=1))
            images += len(lengths[-1])
            cells += len(found[-1])
    if images > most:
        return None
    units = np.concatenate([np.zeros(0, dtype=kind), *found])
    return Images(units=units, ends=np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *lengths])))


def _nothing(problem: Problem) -> _Sets:
    """Return the empty set alone."""
    count, packages = len(problem.units), len(problem.sizes)
    fitting = [problem.fits(problem.empty.joined(unit)) for unit in problem.units]
    return _Sets(
        units=np.zeros((1, count), dtype=np.bool_),
        fitting=np.array([fitting], dtype=np.bool_).reshape(1, count),
        least=np.zeros(1, dtype=np.int64),
        share=np.ones(1),
        needs=np.zeros((1, packages), dtype=np.bool_),
        excludes=np.zeros((1, packages), dtype=np.bool_),
        bases=np.ones((1, len(problem.base_sizes)), dtype=np.bool_),
    )


def _taken(stack: list[_Sets]) -> tuple[_Sets, NDArray[np.int64], NDArray[np.int64]]:
    """Take some thousands of sets from the end of the stack; return them and the units that each may add.

    Their shares are those of each extension then.
    """
    parts: list[_Sets] = []
    room = _AT_ONCE
    while stack and room:
        last = stack.pop()
        if len(last) > room:
            stack.append(last.rows(0, len(last) - room))
            last = last.rows(len(last) - room, len(last))
        parts.append(last)
        room -= len(last)
    sets = _Sets.joined(parts)
    pairs = sets.fitting & (np.arange(sets.fitting.shape[1]) >= sets.least[:, None])
    rows, units = np.nonzero(pairs)
    return replace(sets, share=sets.share / np.maximum(1, pairs.sum(axis=1))), rows, units


def _extended(
    tables: _Tables, sets: _Sets, rows: NDArray[np.int64], units: NDArray[np.int64]
) -> tuple[_Sets, Bits]:
    """Add to each row its unit; return the sets that can grow on, and the units of the maximal ones."""
    needs = sets.needs[rows] | tables.needs[units]
    excludes = sets.excludes[rows] | tables.excludes[units]
    bases = sets.bases[rows] & tables.bases[units]
    implied, fits = tables.look(needs, excludes, bases)
    fitting = sets.fitting[rows]
    implied &= fitting
    fits &= fitting & ~implied
    new = implied.argmax(axis=1) == units  # else this closed set is met from a smaller unit
    full = new & ~fits.any(axis=1)
    grows = new & (fits & (np.arange(fits.shape[1]) > units[:, None])).any(axis=1)
    closed = sets.units[rows] | implied
    larger = _Sets(
        units=closed[grows],
        fitting=fits[grows],
        least=units[grows] + 1,
        share=sets.share[rows[grows]],
        needs=needs[grows],
        excludes=excludes[grows],
        bases=bases[grows],
    )
    return larger, closed[full]
