"""Solve the plan again when refused tasks' own environments leave less room than it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from partition.errors import InfeasibleError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partition.plan.document import Plan
    from partition.plan.limits import Limits
    from partition.rewrite.tally import Tally
    from partition.tasks.dataset import Dataset


def resolve(
    plan: Plan,
    digest: str,
    dataset: Dataset,
    refused: Mapping[str, str],
    *,
    tally: Tally,
    limits: Limits,
    excess: str,
) -> Plan:
    """Return a plan for the tasks that can be folded, within what the others leave of the caps.

    Parameters
    ----------
    digest
        SHA-256 of the plan's document.
    refused
        Why each refused task is not folded.
    tally, excess
        What was written with `plan`, and which cap it broke.

    Raises
    ------
    CapExceededError
        The others leave no room.
    """
    # the solvers take longer to import than all else, and a plan is seldom solved again
    from partition.plan.problem import read_problem  # noqa: PLC0415
    from partition.plan.propose import propose  # noqa: PLC0415
    from partition.plan.standing import standing_of  # noqa: PLC0415

    taken = len(tally.fixed)
    room = limits.max_new - taken
    total = None if limits.max_total is None else limits.max_total - taken
    if room < 1 or (total is not None and total < 1):
        raise tally.cap_exceeded(excess)
    problem = read_problem(dataset, standing_of(plan, digest), refused=refused)
    try:
        return propose(problem, replace(limits, max_environments=room, max_new=room, max_total=total))
    except InfeasibleError:
        raise tally.cap_exceeded(excess) from None


def changes(before: Plan, after: Plan) -> list[str]:
    """Say in what a plan differs from the one given."""
    if before == after:
        return []
    old = {item.name: item for item in before.environments}
    new = {item.name: item for item in after.environments}
    numbers = f"{len(after.environments)} shared environments instead of {len(before.environments)}"
    said = [f"{numbers}: the cap left room for {after.limits.max_new}"]
    said += [
        f"{name} is no longer there ({old[name].tasks:,} tasks)" for name in sorted(old.keys() - new.keys())
    ]
    said += [f"{name} is new ({new[name].tasks:,} tasks)" for name in sorted(new.keys() - old.keys())]
    moved = sum(
        1
        for task, entry in after.assignment.items()
        if task in before.assignment and before.assignment[task].environment != entry.environment
    )
    if moved:
        said.append(f"{moved:,} tasks move to another environment")
    given = {item.task for item in before.refused}
    reasons = Counter(item.reason for item in after.refused if item.task not in given)
    if reasons:
        said.append(f"{reasons.total():,} more tasks are not folded")
    yields = before.prediction.predicted_yield, after.prediction.predicted_yield
    said.append(f"predicted oracle yield of the tasks folded {yields[1]:.3f} instead of {yields[0]:.3f}")
    return said
