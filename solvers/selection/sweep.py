"""A whole curve in one call: the best selection for every cap on new candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from solvers.result import Limits, Status
from solvers.selection.assign import assign, expected_passes
from solvers.selection.checker import assert_selection
from solvers.selection.exact import solve
from solvers.selection.instance import validate
from solvers.selection.problem import scale_of
from solvers.selection.reduce import reduce_instance
from solvers.selection.result import SelectionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.selection.exact import Answer
    from solvers.selection.instance import SelectionInstance


def sweep(
    instance: SelectionInstance, ks: Sequence[int], limits: Limits | None = None
) -> tuple[SelectionResult, ...]:
    """Solve `instance` for every ``max_new`` in `ks`; results in the order of `ks`.

    The reduction is shared. In ascending order of K, selection and multipliers of one K start the
    next, and a K that gains nothing over a proven smaller one has the same answer. Neither objective
    nor bound decreases with K. Every answer is checked before it is returned.

    Raises
    ------
    InvalidInstanceError
        If the instance, with any of the caps, breaks a rule of `validate`.
    """
    limits = limits or Limits()
    instances = {k: replace(instance, max_new=k) for k in (instance.max_new, *ks)}
    for capped in instances.values():
        validate(capped)
    if not ks:
        return ()
    reduction = reduce_instance(instances[max(ks)])
    answers: dict[int, Answer] = {}
    answer: Answer | None = None
    for k in sorted(set(ks)):
        problem = replace(reduction.problem, max_new=min(k, reduction.problem.max_new))
        answer = solve(problem, reduction.ties, limits, answer)
        answers[k] = answer
    ceiling = None
    results = {}
    for k in sorted(answers, reverse=True):
        answer = answers[k]
        ceiling = answer.bound if ceiling is None else min(ceiling, answer.bound)
        chosen = [int(reduction.candidates[j]) for j in answer.chosen]
        results[k] = _checked(instances[k], chosen, answer, max(answer.value, ceiling))
    return tuple(results[k] for k in ks)


def _checked(
    instance: SelectionInstance, chosen: Sequence[int], answer: Answer, bound: int
) -> SelectionResult:
    assignment = assign(instance, chosen)
    objective = expected_passes(instance, assignment)
    scale = scale_of(instance)
    proven = bound <= answer.value
    result = SelectionResult(
        chosen=tuple(sorted(set(map(int, assignment)) - {-1})),
        assignment=tuple(map(int, assignment)),
        objective=objective,
        bound=objective if proven else max(objective, bound / scale.units + scale.slack),
        status=Status.OPTIMAL if proven else Status.FEASIBLE,
        method=answer.method,
        tie_break=Status.OPTIMAL if answer.ties_broken else Status.FEASIBLE,
    )
    assert_selection(instance, result)
    return result
