"""The curve: the best plan for every cap up to a largest one, beside the simple rules."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from partition.errors import InfeasibleError
from partition.plan.compare import RULES, compare
from partition.plan.document import Curve, CurvePoint
from partition.plan.problem import yield_model
from solvers.result import Limits as SolverLimits
from solvers.selection.sweep import sweep as sweep_selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partition.plan.limits import Limits
    from partition.plan.problem import Problem
    from solvers.selection.result import SelectionResult


def steps(ks: Sequence[int]) -> int:
    """Return how often `sweep` ticks."""
    return len(ks) + len(RULES)


def sweep(
    problem: Problem, limits: Limits, ks: Sequence[int], *, tick: Callable[[], None] = lambda: None
) -> Curve:
    """Return the predicted curve over `ks`, each point with its bound and status.

    Raises
    ------
    InfeasibleError
        No candidate fits the limits.
    """
    instance = problem.instance(limits)
    results = sweep_selection(
        instance, ks, SolverLimits(deterministic_time=limits.deterministic_time, seed=limits.seed)
    )
    if not any(result.chosen for result in results):
        raise InfeasibleError("no candidate environment fits the limits", hint="raise the disk cap")
    points = []
    for k, result in zip(ks, results, strict=True):
        points.append(_point(problem, k, result, limits.seed))
        tick()
    return Curve(
        envfold_version=version("envfold"),
        points=points,
        comparisons=compare(problem, instance, ks, seed=limits.seed, tick=tick),
        ceiling=round(problem.ceiling, 9),
        tasks=problem.tasks,
        classes=len(problem.table.classes),
        candidates=len(problem.environments),
        seed=limits.seed,
        inputs=problem.inputs,
        yield_model=yield_model(),
    )


def _point(problem: Problem, k: int, result: SelectionResult, seed: int) -> CurvePoint:
    band = problem.yields.band(problem.environments, result.assignment, seed=seed)
    chosen = [problem.environments[index] for index in result.chosen]
    return CurvePoint(
        k=k,
        predicted_yield=round(band.mean, 9),
        low=round(band.low, 9),
        high=round(band.high, 9),
        bound=round(result.bound / problem.tasks, 9),
        gap=round(result.gap, 9),
        status=result.status.value,
        environments=len(chosen),
        baked=sum(item.baked is not None for item in chosen),
        names=[item.name for item in chosen],
    )
