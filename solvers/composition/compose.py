"""The entry point: one instance, one checked answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.composition.checker import assert_composition
from solvers.composition.coverage import coverage
from solvers.composition.fewest import fewest
from solvers.composition.instance import Goal, validate
from solvers.composition.reduce import reduced
from solvers.composition.result import CompositionResult
from solvers.composition.units import assigned, composed, demands_of, expected_passes
from solvers.result import Limits, Status

if TYPE_CHECKING:
    from solvers.composition.fewest import Answer
    from solvers.composition.instance import CompositionInstance
    from solvers.composition.reduce import Reduced
    from solvers.composition.units import Demands


def compose(instance: CompositionInstance, limits: Limits | None = None) -> CompositionResult:
    """Compose the best images of `instance`.

    The same instance and limits give the same result, bit for bit.

    Raises
    ------
    InvalidInstanceError
        If the instance breaks a rule of `validate`.
    CheckError
        If the answer breaks a rule of the instance: a bug.
    """
    validate(instance)
    limits = limits or Limits()
    demands = demands_of(instance)
    small = reduced(demands.problem, all_served=instance.goal == Goal.FEWEST_IMAGES)
    if instance.goal == Goal.FEWEST_IMAGES:
        result = _fewest(instance, demands, small, fewest(small.problem, limits))
    else:
        count = min(int(instance.max_images or 0), len(small.problem.units))
        result = covered(instance, demands, small, coverage(small.problem, count, limits))
    assert_composition(instance, result)
    return result


def _fewest(
    instance: CompositionInstance, demands: Demands, small: Reduced, answer: Answer
) -> CompositionResult:
    images = composed(instance, demands, small.images(answer.images))
    method = ", ".join(filter(None, answer.methods))
    limit = instance.max_images
    if limit is not None and len(images) > limit:
        infeasible = answer.bound > limit
        units = answer.apart if len(answer.apart) > limit else range(len(small.names))
        venvs = {demands.venvs[small.names[u]] for u in units} if infeasible else set()
        return CompositionResult(
            goal=instance.goal,
            images=(),
            assignment=(-1,) * len(instance.weights),
            objective=0.0,
            bound=float(answer.bound),
            status=Status.INFEASIBLE if infeasible else Status.UNKNOWN,
            method=method,
            refused=demands.refused,
            conflicting=tuple(sorted(venvs)),
        )
    return CompositionResult(
        goal=instance.goal,
        images=images,
        assignment=assigned(instance, images),
        objective=float(len(images)),
        bound=float(answer.bound),
        status=Status.OPTIMAL if answer.bound >= len(images) else Status.FEASIBLE,
        method=method,
        refused=demands.refused,
    )


def covered(
    instance: CompositionInstance, demands: Demands, small: Reduced, answer: Answer
) -> CompositionResult:
    """Return an answer to the reduced problem as one to an instance with the goal COVERAGE."""
    images = composed(instance, demands, small.images(answer.images))
    assignment = assigned(instance, images)
    objective = expected_passes(instance, images, assignment)
    # served units may be worth more than the search knew: what comes along for nothing is in the images
    proven = answer.bound <= small.problem.gain(answer.images)
    bound = min(float(instance.weights.sum()), answer.bound / demands.scale + demands.slack)
    return CompositionResult(
        goal=instance.goal,
        images=images,
        assignment=assignment,
        objective=objective,
        bound=objective if proven else max(objective, bound),
        status=Status.OPTIMAL if proven else Status.FEASIBLE,
        method=", ".join(filter(None, answer.methods)),
        refused=demands.refused,
    )
