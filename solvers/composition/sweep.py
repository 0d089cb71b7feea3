"""A whole curve in one call: the best images for every limit on their number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solvers.composition.checker import assert_composition
from solvers.composition.compose import covered
from solvers.composition.coverage import Memory, coverage
from solvers.composition.instance import Goal, validate
from solvers.composition.reduce import reduced
from solvers.composition.units import demands_of
from solvers.errors import InvalidInstanceError
from solvers.result import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.composition.fewest import Answer
    from solvers.composition.instance import CompositionInstance
    from solvers.composition.result import CompositionResult


def sweep(
    instance: CompositionInstance, ks: Sequence[int], limits: Limits | None = None
) -> tuple[CompositionResult, ...]:
    """Solve `instance`, with the goal COVERAGE, for every ``max_images`` in `ks`; results in their order.

    In ascending order of K, the images of one K start the next, and it knows every image that column
    generation has met. Of K images the K' that are worth most are worth at least K'/K of all, so no K is
    worth more than K/K' times the bound of K'; nor more than the bound of any larger one. Every answer is
    checked before it is returned.

    Raises
    ------
    InvalidInstanceError
        If the instance, with any of the limits, breaks a rule of `validate`, or has another goal.
    """
    limits = limits or Limits()
    if instance.goal != Goal.COVERAGE:
        raise InvalidInstanceError([f"goal is {instance.goal}, a sweep needs {Goal.COVERAGE}"])
    instances = {k: replace(instance, max_images=k) for k in sorted(set(ks))}
    for limited in (instance, *instances.values()):
        validate(limited)
    demands = demands_of(instance)
    small = reduced(demands.problem, all_served=False)
    memory = Memory()
    answers: dict[int, Answer] = {}
    for k in instances:
        answers[k] = coverage(small.problem, min(k, len(small.problem.units)), limits, memory)
    bounds = _together({k: answer.bound for k, answer in answers.items()})
    results = {}
    for k, limited in instances.items():
        results[k] = covered(limited, demands, small, replace(answers[k], bound=bounds[k]))
        assert_composition(limited, results[k])
    return tuple(results[k] for k in ks)


def _together(bounds: dict[int, int]) -> dict[int, int]:
    """Return the bounds lowered to what those of other numbers of images say; `bounds` ascend by number."""
    lowered: dict[int, int] = {}
    for k, bound in bounds.items():
        averaged = (other * k // fewer for fewer, other in lowered.items() if fewer)
        lowered[k] = min([bound, *averaged])
    ceiling = None
    for k in reversed(list(lowered)):
        ceiling = lowered[k] if ceiling is None else min(ceiling, lowered[k])
        lowered[k] = ceiling
    return lowered
