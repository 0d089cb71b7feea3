"""The independent specification of a Plan: what must hold whatever made it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partition.environments.render import snapshot_of
from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.plan.document import Plan


def check_plan(plan: Plan) -> None:
    """Raise unless the plan keeps every promise of its document.

    Raises
    ------
    InputError
        With one fault for each broken rule.
    """
    faults = [Fault(where="plan", what=what) for what in _broken(plan)]
    if faults:
        raise InputError("the plan does not hold what it promises", faults=faults)


def _broken(plan: Plan) -> Iterator[str]:
    limits = plan.limits
    names = Counter(item.name for item in plan.environments)
    yield from (f"environment {name!r} is there {count} times" for name, count in names.items() if count > 1)
    new = {item.snapshot for item in plan.environments if not item.exists}
    if len(new) > limits.max_new:
        yield f"{len(new)} new snapshots exceed the cap of {limits.max_new}"
    if limits.organisation is not None and new and len(new) + limits.existing > limits.organisation:
        yield f"{len(new)} new and {limits.existing} existing snapshots exceed {limits.organisation}"
    counted = Counter(item.environment for item in plan.assignment.values())
    venvs = {item.name: {venv.name for venv in item.venvs} for item in plan.environments}
    for item in plan.environments:
        if counted[item.name] != item.tasks or not item.tasks:
            yield f"{item.name} says {item.tasks} tasks and is assigned {counted[item.name]}"
        if sum(item.families.values()) != item.tasks:
            yield f"the families of {item.name} do not add up to its {item.tasks} tasks"
        if not item.exists and item.snapshot != snapshot_of(item.dockerfile):
            yield f"the snapshot of {item.name} is not the key of its Dockerfile"
        if limits.disk_bytes is not None and item.predicted_size_bytes > limits.disk_bytes:
            yield f"{item.name} is larger than the disk cap and can never start"
    for task, entry in plan.assignment.items():
        if entry.environment not in venvs:
            yield f"{task} is assigned to {entry.environment!r}, which is not in the plan"
        elif entry.venv is not None and entry.venv not in venvs[entry.environment]:
            yield f"{task} uses venv {entry.venv!r}, which {entry.environment!r} does not hold"
        if not 0 <= entry.low <= entry.high <= 1 or not 0 <= entry.predicted_yield <= 1:
            yield f"the prediction of {task} is not a probability"
    refused = [item.task for item in plan.refused]
    both = set(refused) & plan.assignment.keys()
    yield from (f"{task} is both assigned and refused" for task in sorted(both))
    if len(refused) != len(set(refused)):
        yield "a task is refused twice"
    if len(plan.assignment) + len(refused) != plan.inputs.tasks:
        yield f"{plan.inputs.tasks} tasks were read, {len(plan.assignment) + len(refused)} are accounted for"
    expected = sum(item.predicted_yield for item in plan.assignment.values())
    if abs(expected - plan.objective) > 1e-6 * max(1, plan.inputs.tasks):
        yield f"the tasks' predictions add up to {expected:.6f}, not to the objective {plan.objective:.6f}"
    if plan.bound + 1e-6 < plan.objective:
        yield "the bound is below the objective"
    if plan.status == "OPTIMAL" and plan.gap > 1e-6:
        yield "an optimal plan has a gap"
