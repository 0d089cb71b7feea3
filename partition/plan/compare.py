"""The simple rules that people use today, on the same candidates and the same predictions.

Each rule names the environments that it would build; a rule with more groups than K keeps the K that hold
the most tasks. To be fair to the rules, every task then goes to the best of the environments built, not only
to its group's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partition.plan.document import ComparisonPoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from partition.plan.problem import Problem
    from solvers.selection.instance import SelectionInstance

GROUP_BY_PYTHON = "group by Python"
GROUP_BY_PYTHON_AND_REPO = "by Python and repository"
GROUP_BY_VERSION = "by (repository, version)"
JACCARD = "Jaccard merging (LANDLORD)"
GREEDY = "greedy"


def compare(
    problem: Problem, instance: SelectionInstance, ks: Sequence[int], *, seed: int
) -> dict[str, list[ComparisonPoint]]:
    """Return each rule's curve over `ks`."""
    candidates = problem.candidates
    rules: dict[str, tuple[NDArray[np.int64], ...]] = {
        GROUP_BY_PYTHON: (candidates.interpreter,),
        GROUP_BY_PYTHON_AND_REPO: (candidates.family,),
        GROUP_BY_VERSION: (candidates.own,),
        JACCARD: candidates.clusters,
    }
    curves = {
        name: [_best_point(problem, instance, groupings, k, seed) for k in ks]
        for name, groupings in rules.items()
    }
    curves[GREEDY] = _greedy(problem, instance, ks, seed)
    return curves


def _best_point(
    problem: Problem,
    instance: SelectionInstance,
    groupings: Sequence[NDArray[np.int64]],
    k: int,
    seed: int,
) -> ComparisonPoint:
    options = [_largest(problem, grouping, k) for grouping in groupings]
    best = max(options, key=lambda chosen: (_value(instance, chosen), tuple(-index for index in chosen)))
    return _point(problem, instance, best, k, seed)


def _largest(problem: Problem, grouping: NDArray[np.int64], k: int) -> tuple[int, ...]:
    """Return the k environments whose groups hold the most tasks."""
    tasks = np.bincount(
        grouping[grouping >= 0],
        weights=problem.table.weights[grouping >= 0],
        minlength=len(problem.environments),
    )
    ranked = sorted(np.flatnonzero(tasks).tolist(), key=lambda index: (-tasks[index], index))
    return tuple(sorted(ranked[:k]))


def _greedy(
    problem: Problem, instance: SelectionInstance, ks: Sequence[int], seed: int
) -> list[ComparisonPoint]:
    """Add the environment that gains most, one at a time (Nemhauser, Wolsey & Fisher 1978)."""
    gains = instance.weights[:, None] * instance.probabilities
    best = np.zeros(len(instance.weights))
    chosen: list[int] = []
    for _ in range(max(ks)):
        added = np.maximum(gains - best[:, None], 0.0).sum(axis=0)
        index = int(np.argmax(added))
        if added[index] <= 0:
            break
        chosen.append(index)
        best = np.maximum(best, gains[:, index])
    return [_point(problem, instance, tuple(sorted(chosen[:k])), k, seed) for k in ks]


def _value(instance: SelectionInstance, chosen: Sequence[int]) -> float:
    if not chosen:
        return 0.0
    return float(instance.weights @ instance.probabilities[:, list(chosen)].max(axis=1))


def _point(
    problem: Problem, instance: SelectionInstance, chosen: tuple[int, ...], k: int, seed: int
) -> ComparisonPoint:
    columns = np.array(chosen, dtype=np.int64)
    values = np.where(instance.allowed[:, columns], instance.probabilities[:, columns], -1.0)
    best = values.argmax(axis=1)
    served = values.max(axis=1) >= 0
    assignment = np.where(served, columns[best], -1).tolist()
    band = problem.yields.band(problem.environments, assignment, seed=seed)
    return ComparisonPoint(
        k=k,
        predicted_yield=round(band.mean, 9),
        low=round(band.low, 9),
        high=round(band.high, 9),
        environments=len(chosen),
    )
