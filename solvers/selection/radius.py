"""Exact selection by CP-SAT on the sorted-value ("radius") formulation.

For every class and every value D that it can have there is one 0-1 variable: "the class has value D or
more", true only if a candidate with such a value is chosen. The objective is the sum of these steps,
so there is no variable per pair (Cornuejols, Nemhauser & Wolsey 1980, doi:10.1137/0601030; Garcia,
Labbe & Marin 2011, doi:10.1287/ijoc.1100.0418). Steps that rest on the same set of candidates share one
variable, whichever classes they come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.budget import Budget
    from solvers.selection.problem import Problem, Ties

_UNITS_A_PAIR = 5e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The value of a selection as a sum: `base`, and the gain of every step that is met.

    Step s is met when a candidate of `reasons[s]` is chosen or step `parents[s]` is met.

    Parameters
    ----------
    base
        What the forced candidates give alone.
    gains
        Whole numbers > 0.
    reasons
        Candidates, ascending.
    parents
        Index of an earlier step, or -1 for none.
    """

    base: int
    gains: tuple[int, ...]
    reasons: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]


def steps_of(problem: Problem, forced: NDArray[np.int64]) -> Steps:
    """Return the value of selections that contain `forced` as steps."""
    base = problem.best(forced)
    numbers: dict[int, int] = {}
    gains: list[int] = []
    reasons: list[tuple[int, ...]] = []
    parents: list[int] = []
    for row, least in zip(problem.values.T, base, strict=True):
        above = np.flatnonzero(row > least)
        order = above[np.argsort(-row[above], kind="stable")]
        levels = row[order]
        ends = [*(np.flatnonzero(np.diff(levels)) + 1), len(order)] if len(order) else []
        start, support, parent = 0, 0, -1
        for end in map(int, ends):
            added = [int(j) for j in order[start:end]]
            for j in added:
                support |= 1 << j
            number = numbers.setdefault(support, len(gains))
            if number == len(gains):
                gains.append(0)
                reasons.append(tuple(added))
                parents.append(parent)
            gains[number] += int(levels[start] - (levels[end] if end < len(order) else least))
            start, parent = end, number
    return Steps(base=int(base.sum()), gains=tuple(gains), reasons=tuple(reasons), parents=tuple(parents))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What CP-SAT found.

    Parameters
    ----------
    chosen
        The best selection known, ascending.
    proven
        Whether none is better.
    bound
        No selection has a larger objective; None where CP-SAT had no time to say.
    """

    chosen: tuple[int, ...]
    proven: bool
    bound: int | None


def building_units(pairs: int) -> float:
    """Return the deterministic time units that a model of so many (class, candidate) pairs takes to build."""
    return pairs * _UNITS_A_PAIR


class SelectionModel:
    """A CP-SAT model over the candidates of a problem; constraints are added, objectives asked for.

    Attributes
    ----------
    model
        The model, to add constraints to.
    opened
        For each candidate the variable "is chosen".
    value
        The value of what is chosen, as an expression that never exceeds it.
    """

    def __init__(self, problem: Problem, forced: NDArray[np.int64]) -> None:
        self.model = cp_model.CpModel()
        self.opened = [self.model.new_bool_var(f"candidate {j}") for j in range(len(problem.new))]
        for j in forced:
            self.model.add(self.opened[j] == 1)
        self._problem = problem
        self._steps = steps_of(problem, forced)
        self._met: list[cp_model.IntVar] = []
        for reasons, parent in zip(self._steps.reasons, self._steps.parents, strict=True):
            if parent < 0 and len(reasons) == 1:
                self._met.append(self.opened[reasons[0]])
                continue
            met = self.model.new_bool_var("")
            because = [self.opened[j] for j in reasons] + ([self._met[parent]] if parent >= 0 else [])
            self.model.add_bool_or([~met, *because])
            self._met.append(met)
        self.value = cp_model.LinearExpr.weighted_sum(self._met, self._steps.gains) + self._steps.base

    @property
    def steps(self) -> int:
        """How many steps the value is the sum of."""
        return len(self._steps.gains)

    def add_caps(self) -> None:
        """Allow at most `max_new` new and `max_total` candidates."""
        self.model.add(self.count(self._problem.new) <= self._problem.max_new)
        self.model.add(self.count(np.ones_like(self._problem.new)) <= self._problem.max_total)

    def add_floor(self, value: int) -> None:
        """Demand at least `value`."""
        self.model.add(self.value >= value)

    def count(self, counted: NDArray[np.bool_]) -> cp_model.LinearExpr:
        """Return the number of chosen candidates among `counted`, shape (m,)."""
        return cp_model.LinearExpr.sum([self.opened[j] for j in np.flatnonzero(counted)])

    def size(self, sizes: NDArray[np.int64]) -> cp_model.LinearExpr:
        """Return the total size of what is chosen; shape (m,), bytes."""
        return cp_model.LinearExpr.weighted_sum(self.opened, [int(size) for size in sizes])

    def add_staying(self, ties: Ties) -> cp_model.LinearExpr:
        """Return the weight that stays: its candidate is chosen and no chosen one is better for it."""
        values = self._problem.values
        staying = []
        for i, j in zip(ties.classes, ties.candidates, strict=True):
            stays = self.model.new_bool_var("")
            self.model.add_implication(stays, self.opened[j])
            for better in np.flatnonzero(values[:, i] > values[j, i]):
                self.model.add_implication(stays, ~self.opened[better])
            staying.append(stays)
        return cp_model.LinearExpr.weighted_sum(staying, [int(weight) for weight in ties.weights])

    def maximise(
        self, objective: cp_model.LinearExpr, incumbent: Sequence[int], budget: Budget, seed: int
    ) -> Proof:
        """Look for the largest `objective`, starting from the valid selection `incumbent`.

        Raises
        ------
        RuntimeError
            If CP-SAT calls the model infeasible or invalid, which the incumbent rules out.
        """
        self._hint(set(incumbent))
        self.model.maximize(objective)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = max(budget.left, 0.0)
        solver.parameters.random_seed = seed
        solver.parameters.catch_sigint_signal = False  # or an interrupt only ends this search, and is lost
        status = solver.solve(self.model)
        budget.charge(solver.response_proto.deterministic_time)
        if status == cp_model.UNKNOWN:
            return Proof(chosen=tuple(incumbent), proven=False, bound=None)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            raise RuntimeError(f"CP-SAT says {solver.status_name(status)} of a model with a known answer")
        chosen = tuple(j for j, variable in enumerate(self.opened) if solver.boolean_value(variable))
        bound = round(solver.best_objective_bound)  # whole, but for the float it is told in
        return Proof(chosen=chosen, proven=status == cp_model.OPTIMAL, bound=bound)

    def _hint(self, chosen: set[int]) -> None:
        hint = self.model.proto.solution_hint
        hint.vars.clear()
        hint.values.clear()
        for j, variable in enumerate(self.opened):
            self.model.add_hint(variable, j in chosen)
        met: list[bool] = []
        for reasons, parent, variable in zip(
            self._steps.reasons, self._steps.parents, self._met, strict=True
        ):
            met.append(not chosen.isdisjoint(reasons) or (parent >= 0 and met[parent]))
            if parent >= 0 or len(reasons) > 1:
                self.model.add_hint(variable, met[-1])
