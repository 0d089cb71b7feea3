"""The integer problem that every selection algorithm works on.

A probability is read to six digits and a weight as a whole number (where the weights are not whole,
as a multiple of a power of two that leaves 2**26 units in total). A value, weight times probability,
is then a whole number, and so is every sum of values below 2**53: float64 holds each exactly, in any
order of addition. A bound that meets an objective is therefore a proof, and the same on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.selection.instance import SelectionInstance

PROBABILITY_UNITS = 10**6
"""Units in a probability of 1."""

WEIGHT_UNITS = 2**26
"""At most about this many units in all weights together."""

_MOST_EXPONENT = 900
"""Of two, in the units of a weight of 1: weights of next to nothing stay finite when scaled back."""

_PAIRS_AT_ONCE = 2**15


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Choose S within two caps so that the sum over classes of the best value in S is largest.

    Parameters
    ----------
    values
        Shape (m, n): what each candidate is worth to each class, whole numbers >= 0 held as
        float64; 0 where the pair is not allowed.
    new
        Shape (m,), bool; candidates that count against `max_new`.
    max_new, max_total
        Caps, >= 0.
    unit
        A whole number that divides every value.
    """

    values: NDArray[np.float64]
    new: NDArray[np.bool_]
    max_new: int
    max_total: int
    unit: int

    def value(self, chosen: Sequence[int] | NDArray[np.int64]) -> int:
        """Return the sum over classes of the best value among `chosen`."""
        return int(self.best(chosen).sum())

    def best(self, chosen: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best value of each class among `chosen`; shape (n,)."""
        best: NDArray[np.float64] = self.values[np.asarray(chosen, dtype=np.int64)].max(axis=0, initial=0.0)
        return best

    def excess(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each candidate how far its values exceed `levels`, shape (n,), in all; shape (m,)."""
        m, n = self.values.shape
        rows = max(1, _PAIRS_AT_ONCE // max(1, n))
        excess = np.empty(m)
        part = np.empty((min(rows, m), n))
        # in parts that stay in the processor's cache
        for start in range(0, m, rows):
            values = self.values[start : start + rows]
            above = part[: len(values)]
            np.subtract(values, levels, out=above)
            np.maximum(above, 0.0, out=above)
            above.sum(axis=1, out=excess[start : start + rows])
        return excess

    def restricted(self, candidates: NDArray[np.int64]) -> Problem:
        """Return the problem with only `candidates`, in that order."""
        return Problem(
            values=self.values[candidates],
            new=self.new[candidates],
            max_new=self.max_new,
            max_total=self.max_total,
            unit=self.unit,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Ties:
    """What decides between selections of equal value.

    Parameters
    ----------
    new, sizes
        Shape (m,): whether a candidate is new, and its bytes.
    classes, candidates, weights
        Shape (s,): weight `weights[s]` of class `classes[s]` was in `candidates[s]` and may stay.
    """

    new: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]
    candidates: NDArray[np.int64]
    weights: NDArray[np.int64]

    def cost(self, problem: Problem, chosen: Sequence[int]) -> tuple[int, int, int]:
        """Return what is minimised in turn: new members, total size, minus the weight that stays."""
        index = np.asarray(chosen, dtype=np.int64)
        stays = np.isin(self.candidates, index)
        classes, candidates = self.classes[stays], self.candidates[stays]
        as_good = problem.values[candidates, classes] == problem.best(index)[classes]
        return (
            int(self.new[index].sum()),
            int(self.sizes[index].sum()),
            -int(self.weights[stays][as_good].sum()),
        )

    def restricted(self, candidates: NDArray[np.int64]) -> Ties:
        """Return the ties among only `candidates`, in that order."""
        place = np.full(len(self.new), -1, dtype=np.int64)
        place[candidates] = np.arange(len(candidates))
        known = place[self.candidates] >= 0
        return Ties(
            new=self.new[candidates],
            sizes=self.sizes[candidates],
            classes=self.classes[known],
            candidates=place[self.candidates[known]],
            weights=self.weights[known],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How whole numbers stand for expected passes.

    Parameters
    ----------
    units
        Units in one expected pass.
    slack
        Expected passes by which rounding may have changed an objective.
    """

    units: float
    slack: float


def integer_weights(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return whole weights and the units in a weight of 1 (1 where all weights are whole already)."""
    total = float(weights.sum())
    if total == 0 or (total <= WEIGHT_UNITS and bool((weights == np.rint(weights)).all())):
        return np.rint(weights).astype(np.int64), 1.0
    exponent = math.log2(WEIGHT_UNITS) - math.ceil(math.log2(total))
    units = 2.0 ** min(exponent, _MOST_EXPONENT)
    return np.rint(weights * units).astype(np.int64), units


def integer_probabilities(instance: SelectionInstance) -> NDArray[np.float64]:
    """Return the probabilities in units, 0 where a pair is not allowed; shape (n, m)."""
    return np.where(instance.allowed, np.rint(instance.probabilities * PROBABILITY_UNITS), 0.0)


def scale_of(instance: SelectionInstance) -> Scale:
    """Return how the whole numbers of `instance` stand for expected passes."""
    weights, units = integer_weights(instance.weights)
    slack = 0.5 / PROBABILITY_UNITS * float(instance.weights.sum())
    slack += float(np.abs(instance.weights - weights / units).sum())
    return Scale(units=units * PROBABILITY_UNITS, slack=slack)
