"""From a good selection and a bound to the best selection: by a tree or by CP-SAT, whichever suits.

Where classes share most of their steps (`solvers.selection.radius`) CP-SAT was up to a hundred times
faster than the tree; where most classes have steps of their own, the tree was up to ten times faster
than CP-SAT. The one that suits gets half the budget, the other what is left then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.branch import better_than
from solvers.selection.fixing import Survivors, survivors
from solvers.selection.radius import SelectionModel, building_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from solvers.budget import Budget
    from solvers.selection.lagrangian import Dual
    from solvers.selection.problem import Problem

_FEW_STEPS = 2000
_MANY_PAIRS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best selection known, what none exceeds, and how that was found.

    Parameters
    ----------
    chosen
        Ascending.
    value
        What it is worth.
    bound
        No selection is worth more; equal to `value` where that is proven to be the best.
    nodes
        Nodes of the tree that were looked at.
    methods
        What had to be used, in a few words each.
    """

    chosen: tuple[int, ...]
    value: int
    bound: int
    nodes: int = 0
    methods: tuple[str, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether no selection is better."""
        return self.bound <= self.value


def prove(problem: Problem, dual: Dual, chosen: tuple[int, ...], budget: Budget, seed: int) -> Best:
    """Look for a selection better than `chosen` until there is none or the budget is spent."""
    value = problem.value(chosen)
    best = Best(chosen=chosen, value=value, bound=max(value, dual.bound - dual.bound % problem.unit))
    left = survivors(problem, dual, value)
    turns: list[Callable[[Best, Budget], Best]] = [lambda best, part: _by_tree(problem, dual, best, part)]
    pairs = len(left.possible) * problem.values.shape[1]
    if not best.proven and pairs <= _MANY_PAIRS and building_units(pairs) < budget.left:
        budget.charge(building_units(pairs))
        model = SelectionModel(problem.restricted(left.possible), np.searchsorted(left.possible, left.forced))
        model.add_caps()
        turns.append(lambda best, part: _by_model(problem, model, left, best, part, seed=seed))
        if model.steps <= _FEW_STEPS:
            turns.reverse()
    for turn, share in zip(turns, [1.0] if len(turns) == 1 else [0.5, 1.0], strict=True):
        if not best.proven:
            best = turn(best, budget.part(share))
    return best


def _by_tree(problem: Problem, dual: Dual, best: Best, budget: Budget) -> Best:
    names = survivors(problem, dual, best.value + problem.unit).possible
    tree = better_than(best.value, problem.restricted(names), dual.multipliers, best.bound, budget)
    found = [tuple(int(names[j]) for j in chosen) for chosen in tree.found]
    return Best(
        chosen=found[0] if found else best.chosen,
        value=tree.value,
        bound=max(tree.value, min(best.bound, tree.bound - tree.bound % problem.unit)),
        nodes=tree.nodes,
        methods=(*best.methods, f"branch and bound of {tree.nodes} nodes"),
    )


def _by_model(
    problem: Problem, model: SelectionModel, left: Survivors, best: Best, budget: Budget, *, seed: int
) -> Best:
    names = left.possible
    here = tuple(int(j) for j in np.searchsorted(names, best.chosen))
    proof = model.maximise(model.value, here, budget, seed)
    found = tuple(int(names[j]) for j in proof.chosen)
    best = replace(best, methods=(*best.methods, "CP-SAT"))
    if problem.value(found) > best.value:
        best = replace(best, chosen=found, value=problem.value(found))
    if proof.proven:
        return replace(best, bound=best.value)
    return best if proof.bound is None else replace(best, bound=max(best.value, min(best.bound, proof.bound)))
