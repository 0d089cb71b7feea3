"""What a selection must satisfy, rule by rule: the specification, sharing no code with the solvers."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from solvers.errors import CheckError
from solvers.result import Status

if TYPE_CHECKING:
    from solvers.selection.instance import SelectionInstance
    from solvers.selection.result import SelectionResult

_SAME_PROBABILITY = 1.000001e-6
_ROUNDING = 1e-9


def assert_selection(instance: SelectionInstance, result: SelectionResult) -> None:
    """Check that `result` is an answer to `instance` and that its claims agree with each other.

    Raises
    ------
    CheckError
        With every broken rule.
    """
    faults = _chosen_faults(instance, result)
    if not faults:
        faults = [
            *_cap_faults(instance, result),
            *_assignment_faults(instance, result),
            *_claim_faults(instance, result),
        ]
    if faults:
        raise CheckError(faults)


def _chosen_faults(instance: SelectionInstance, result: SelectionResult) -> list[str]:
    m = len(instance.sizes)
    faults = []
    if list(result.chosen) != sorted(set(result.chosen)):
        faults.append(f"chosen {result.chosen} is not ascending without repeats")
    faults += [f"chosen {j} is not one of {m} candidates" for j in result.chosen if not 0 <= j < m]
    if len(result.assignment) != len(instance.weights):
        faults.append(f"{len(result.assignment)} assignments for {len(instance.weights)} classes")
    return faults


def _cap_faults(instance: SelectionInstance, result: SelectionResult) -> list[str]:
    faults = []
    new = [j for j in result.chosen if not instance.existing[j]]
    if len(new) > instance.max_new:
        faults.append(f"{len(new)} new candidates, at most {instance.max_new} allowed")
    if instance.max_total is not None and len(result.chosen) > instance.max_total:
        faults.append(f"{len(result.chosen)} candidates, at most {instance.max_total} allowed")
    return faults


def _assignment_faults(instance: SelectionInstance, result: SelectionResult) -> list[str]:
    faults = []
    for i, j in enumerate(result.assignment):
        open_to = [k for k in result.chosen if instance.allowed[i, k]]
        if j == -1:
            if open_to:
                faults.append(f"class {i} has no candidate though {open_to[0]} is chosen and allowed")
        elif j not in result.chosen:
            faults.append(f"class {i} is in {j}, which is not chosen")
        elif not instance.allowed[i, j]:
            faults.append(f"class {i} is in {j}, which is not allowed")
        else:
            best = max(float(instance.probabilities[i, k]) for k in open_to)
            if instance.probabilities[i, j] < best - _SAME_PROBABILITY:
                faults.append(f"class {i} is in {j} with {instance.probabilities[i, j]}, best is {best}")
    used = set(result.assignment)
    faults += [f"chosen {j} serves no class" for j in result.chosen if j not in used]
    return faults


def _claim_faults(instance: SelectionInstance, result: SelectionResult) -> list[str]:
    passes = fsum(
        float(instance.weights[i]) * float(instance.probabilities[i, j])
        for i, j in enumerate(result.assignment)
        if 0 <= j < len(instance.sizes)
    )
    total = fsum(float(weight) for weight in instance.weights)
    margin = _ROUNDING * max(1.0, total)
    faults = []
    if not abs(result.objective - passes) <= margin:
        faults.append(f"objective is {result.objective}, the assignment gives {passes}")
    if not result.bound >= result.objective - margin:
        faults.append(f"bound {result.bound} is below the objective {result.objective}")
    if not result.bound <= total + margin + _SAME_PROBABILITY * total:
        faults.append(f"bound {result.bound} is above the total weight {total}")
    if result.status not in {Status.OPTIMAL, Status.FEASIBLE}:
        faults.append(f"status is {result.status} though there is always an answer")
    if result.status is Status.OPTIMAL and not result.gap <= _SAME_PROBABILITY:
        faults.append(f"status is OPTIMAL with a gap of {result.gap}")
    if result.tie_break is Status.OPTIMAL and result.status is not Status.OPTIMAL:
        faults.append("the tie-break is proven though the objective is not")
    return faults
