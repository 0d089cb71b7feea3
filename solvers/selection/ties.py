"""Among selections of the best value: fewest new, then smallest, then fewest moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.branch import all_worth
from solvers.selection.fixing import survivors
from solvers.selection.lagrangian import dual_at
from solvers.selection.radius import SelectionModel, building_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.selection.lagrangian import Dual
    from solvers.selection.problem import Problem, Ties


def without_idle(problem: Problem, ties: Ties, chosen: Sequence[int]) -> tuple[int, ...]:
    """Take out members, new and large ones first, that add no value; return the rest, ascending."""
    kept = sorted(chosen)
    value = problem.value(kept)
    for j in sorted(kept, key=lambda j: (not ties.new[j], -int(ties.sizes[j]), -j)):
        rest = [k for k in kept if k != j]
        if problem.value(rest) == value and ties.cost(problem, rest) < ties.cost(problem, kept):
            kept = rest
    return tuple(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBreak:
    """The selection after breaking ties, whether no other is better, and what told."""

    chosen: tuple[int, ...]
    proven: bool
    method: str


def break_ties(
    problem: Problem,
    ties: Ties,
    dual: Dual,
    chosen: tuple[int, ...],
    budget: Budget,
    *,
    nodes: int,
    seed: int,
) -> TieBreak:
    """Return the lexicographically best of all selections worth as much as the optimum `chosen`.

    Where a tree was needed to prove the value, a tree is tried first; where that is not enough, and
    elsewhere, CP-SAT decides.

    Parameters
    ----------
    dual
        Good multipliers.
    nodes
        Nodes of the tree to spend before CP-SAT is asked.
    """
    left = survivors(problem, dual, problem.value(chosen))
    if len(left.free) == 0:
        return TieBreak(chosen=chosen, proven=True, method="")
    names = left.possible
    here, local = problem.restricted(names), ties.restricted(names)
    current = tuple(map(int, np.searchsorted(names, chosen)))
    forced = np.searchsorted(names, left.forced)
    settled = (
        _fewest_new(here, dual, current),
        _same_size(local, forced),
        len(local.classes) == 0,
    )
    if all(settled):
        return TieBreak(chosen=chosen, proven=True, method="")
    if nodes > 0 and not _free_to_keep(local):
        tree = all_worth(
            here.value(current),
            here,
            dual.multipliers,
            budget,
            costs=np.stack([local.new, local.sizes], axis=1).astype(np.int64),
            at_most=local.cost(here, current)[:2],
            nodes=nodes,
        )
        if tree.ended:
            best = min(tree.found, key=lambda found: local.cost(here, found))
            return TieBreak(
                chosen=tuple(map(int, names[list(best)])), proven=True, method="ties by branch and bound"
            )
    building = building_units(here.values.size)
    if budget.left <= building:
        return TieBreak(chosen=chosen, proven=False, method="ties left open")
    budget.charge(building)
    model = SelectionModel(here, forced)
    current, proven = _by_stages(model, here, local, settled, current, budget=budget, seed=seed)
    return TieBreak(chosen=tuple(map(int, names[list(current)])), proven=proven, method="ties by CP-SAT")


def _by_stages(
    model: SelectionModel,
    problem: Problem,
    ties: Ties,
    settled: tuple[bool, ...],
    current: tuple[int, ...],
    *,
    budget: Budget,
    seed: int,
) -> tuple[tuple[int, ...], bool]:
    """Ask `model` for each part of the cost in turn; what one stage reaches is demanded of the next."""
    model.add_caps()
    model.add_floor(problem.value(current))
    stages = (-model.count(ties.new), -model.size(ties.sizes), model.add_staying(ties))
    for stage, objective in enumerate(stages):
        if not settled[stage]:
            proof = model.maximise(objective, current, budget, seed)
            current = min(current, proof.chosen, key=lambda chosen: ties.cost(problem, chosen))
            if not proof.proven:
                return current, False
        model.model.add(objective >= -ties.cost(problem, current)[stage])
    return current, True


def _free_to_keep(ties: Ties) -> bool:
    """Whether someone may stay in a candidate that costs nothing, so that adding it could only help."""
    return bool((~ties.new & (ties.sizes == 0))[ties.candidates].any())


def _fewest_new(problem: Problem, dual: Dual, chosen: tuple[int, ...]) -> bool:
    """Whether the multipliers alone prove that one new candidate fewer costs value."""
    count = int(problem.new[list(chosen)].sum())
    if count == 0:
        return True
    fewer = dual_at(replace(problem, max_new=count - 1), dual.multipliers)
    return fewer.bound < problem.value(chosen)


def _same_size(ties: Ties, forced: NDArray[np.int64]) -> bool:
    """Whether all selections with `forced` and equally many new candidates have the same size."""
    free = np.delete(np.arange(len(ties.new)), forced)
    sizes = ties.sizes[free]
    return not sizes.any() or bool(ties.new[free].all() and (sizes == sizes[0]).all())
