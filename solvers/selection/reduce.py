"""Smaller problems with the same answer: equal classes merged, dominated candidates dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.problem import Problem, Ties, integer_probabilities, integer_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.selection.instance import SelectionInstance

_CLASSES_AT_ONCE = 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """A problem and where its candidates come from.

    Parameters
    ----------
    problem, ties
        What is left to solve.
    candidates
        For each candidate of the problem its index in the instance, ascending.
    """

    problem: Problem
    ties: Ties
    candidates: NDArray[np.int64]


def reduce_instance(instance: SelectionInstance) -> Reduction:
    """Merge classes that no candidate tells apart and drop candidates that no best answer needs.

    The lexicographic optimum of what is left is that of the instance.
    """
    problem, ties = _merged(instance)
    useful = np.flatnonzero(problem.values.any(axis=1))
    problem, ties = problem.restricted(useful), ties.restricted(useful)
    keep = np.flatnonzero(~dominated(problem, ties))
    return Reduction(problem=problem.restricted(keep), ties=ties.restricted(keep), candidates=useful[keep])


def _merged(instance: SelectionInstance) -> tuple[Problem, Ties]:
    weights, _ = integer_weights(instance.weights)
    probabilities = integer_probabilities(instance)
    counted = np.flatnonzero((weights > 0) & (probabilities > 0).any(axis=1))
    rows = probabilities[counted]
    first, group = _equal_rows(rows)
    merged = np.bincount(group, weights=weights[counted], minlength=len(first))
    values = np.ascontiguousarray((rows[first] * merged[:, None]).T)
    m = len(values)
    problem = Problem(
        values=values,
        new=~instance.existing,
        max_new=min(int(instance.max_new), m),
        max_total=m if instance.max_total is None else min(int(instance.max_total), m),
        unit=max(1, int(np.gcd.reduce(values.astype(np.int64), axis=None))),
    )
    return problem, _ties(instance, probabilities, counted, group, weights)


def _equal_rows(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each group of equal rows, in order, and the group of each row."""
    seen: dict[bytes, int] = {}
    first: list[int] = []
    group: list[int] = []
    for i, row in enumerate(rows):
        number = seen.setdefault(row.tobytes(), len(seen))
        if number == len(first):
            first.append(i)
        group.append(number)
    return np.array(first, dtype=np.int64), np.array(group, dtype=np.int64)


def _ties(
    instance: SelectionInstance,
    probabilities: NDArray[np.float64],
    counted: NDArray[np.int64],
    group: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> Ties:
    stays: dict[tuple[int, int], int] = {}
    if instance.previous is not None:
        for i, merged in zip(counted, group, strict=True):
            before = int(instance.previous[i])
            if before >= 0 and probabilities[i, before] > 0:
                pair = (int(merged), before)
                stays[pair] = stays.get(pair, 0) + int(weights[i])
    return Ties(
        new=~instance.existing,
        sizes=instance.sizes.astype(np.int64),
        classes=np.array([i for i, _ in stays], dtype=np.int64),
        candidates=np.array([j for _, j in stays], dtype=np.int64),
        weights=np.array(list(stays.values()), dtype=np.int64),
    )


def dominated(problem: Problem, ties: Ties) -> NDArray[np.bool_]:
    """Return which candidates some lexicographic optimum does without, all of them at once; shape (m,).

    Candidate j is dominated by k when k is worth at least as much to every class, is no larger, and is
    new only if j is; of two that dominate each other the later one goes. A candidate that somebody may
    stay in is kept: replacing it could cost moves.
    """
    values, new, sizes = problem.values, ties.new, ties.sizes
    out = np.zeros(len(new), dtype=np.bool_)
    wanted = np.zeros(len(new), dtype=np.bool_)
    wanted[ties.candidates] = True
    totals = values.sum(axis=1)
    for j in np.flatnonzero(~wanted):
        rivals = np.flatnonzero(~out & (totals >= totals[j]) & (new <= new[j]) & (sizes <= sizes[j]))
        rivals = rivals[rivals != j]
        order = np.argsort(-values[j], kind="stable")
        for start in range(0, len(order), _CLASSES_AT_ONCE):
            if len(rivals) == 0:
                break
            some = order[start : start + _CLASSES_AT_ONCE]
            rivals = rivals[(values[np.ix_(rivals, some)] >= values[j, some]).all(axis=1)]
        equal = (totals[rivals] == totals[j]) & (new[rivals] == new[j]) & (sizes[rivals] == sizes[j])
        out[j] = bool((~equal | (rivals < j) | wanted[rivals]).any())
    return out
