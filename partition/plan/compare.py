"""The simple rules that people use today, on the same candidates and the same predictions.

Each rule names the environments that it would build; a rule with more groups than K keeps the K that hold
the most tasks. To be fair to the rules, every task then goes to the best of the environments built, not only
to its group's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partition.plan.document import ComparisonPoint
from partition.yields.structural import Band

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from partition.plan.problem import Problem
    from solvers.selection.instance import SelectionInstance

GROUP_BY_PYTHON = "group by Python"
GROUP_BY_PYTHON_AND_REPO = "by Python and repository"
GROUP_BY_VERSION = "by (repository, version)"
JACCARD = "Jaccard merging (LANDLORD)"
GREEDY = "greedy"
RULES = (GROUP_BY_PYTHON, GROUP_BY_PYTHON_AND_REPO, GROUP_BY_VERSION, JACCARD, GREEDY)


def compare(
    problem: Problem,
    instance: SelectionInstance,
    ks: Sequence[int],
    *,
    seed: int,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, list[ComparisonPoint]]:
    """Return each rule's curve over `ks`; `tick` is called for each of the `RULES`."""
    rules = _Rules(problem, instance, seed)
    candidates = problem.candidates
    groupings: dict[str, tuple[NDArray[np.int64], ...]] = {
        GROUP_BY_PYTHON: (candidates.interpreter,),
        GROUP_BY_PYTHON_AND_REPO: (candidates.family,),
        GROUP_BY_VERSION: (candidates.own,),
        JACCARD: candidates.clusters,
    }
    curves = {}
    for name in RULES:
        if name == GREEDY:
            curves[name] = rules.greedy(ks)
        else:
            curves[name] = [rules.best_point(groupings[name], k) for k in ks]
        tick()
    return curves


class _Rules:
    """The rules on one problem; what was predicted once is not predicted again."""

    def __init__(self, problem: Problem, instance: SelectionInstance, seed: int) -> None:
        self.problem = problem
        self.instance = instance
        self.seed = seed
        self._bands: dict[tuple[int, ...], Band] = {}

    def best_point(self, groupings: Sequence[NDArray[np.int64]], k: int) -> ComparisonPoint:
        """Return the point of the grouping that predicts most at `k`."""
        options = [self._largest(grouping, k) for grouping in groupings]
        best = max(options, key=lambda chosen: (self._value(chosen), tuple(-index for index in chosen)))
        return self._point(best, k)

    def greedy(self, ks: Sequence[int]) -> list[ComparisonPoint]:
        """Add the environment that gains most, one at a time (Nemhauser, Wolsey & Fisher 1978)."""
        gains = self.instance.weights[:, None] * self.instance.probabilities
        best = np.zeros(len(self.instance.weights))
        chosen: list[int] = []
        for _ in range(max(ks)):
            added = np.maximum(gains - best[:, None], 0.0).sum(axis=0)
            index = int(np.argmax(added))
            if added[index] <= 0:
                break
            chosen.append(index)
            best = np.maximum(best, gains[:, index])
        return [self._point(tuple(sorted(chosen[:k])), k) for k in ks]

    def _largest(self, grouping: NDArray[np.int64], k: int) -> tuple[int, ...]:
        """Return the k environments whose groups hold the most tasks."""
        grouped = grouping >= 0
        tasks = np.bincount(
            grouping[grouped],
            weights=self.problem.table.weights[grouped],
            minlength=len(self.problem.environments),
        )
        ranked = sorted(np.flatnonzero(tasks).tolist(), key=lambda index: (-tasks[index], index))
        return tuple(sorted(ranked[:k]))

    def _value(self, chosen: Sequence[int]) -> float:
        if not chosen:
            return 0.0
        best = self.instance.probabilities[:, list(chosen)].max(axis=1)
        return float(self.instance.weights @ best)

    def _point(self, chosen: tuple[int, ...], k: int) -> ComparisonPoint:
        if chosen not in self._bands:
            self._bands[chosen] = self._band(chosen)
        band = self._bands[chosen]
        return ComparisonPoint(
            k=k,
            predicted_yield=round(band.mean, 9),
            low=round(band.low, 9),
            high=round(band.high, 9),
            environments=len(chosen),
        )

    def _band(self, chosen: tuple[int, ...]) -> Band:
        columns = np.array(chosen, dtype=np.int64)
        if not len(columns):
            return Band(mean=0.0, low=0.0, high=0.0)
        instance = self.instance
        values = np.where(instance.allowed[:, columns], instance.probabilities[:, columns], -1.0)
        assignment = np.where(values.max(axis=1) >= 0, columns[values.argmax(axis=1)], -1).tolist()
        return self.problem.yields.band(self.problem.environments, assignment, seed=self.seed)
