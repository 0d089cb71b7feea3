"""Picking among known images with CP-SAT: a set-covering (or maximal-covering) problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from solvers.result import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_UNITS_A_LITERAL = 5e-6


class CoverModel:
    """A CP-SAT model that picks at most `count` of the known images.

    Attributes
    ----------
    status
        How much is proven of the last answer; not only of what is known where all images are known.
    bound
        What no picked images are worth more than; None where CP-SAT had no time to say.
    """

    def __init__(self, problem: Problem, columns: Sequence[Image], count: int) -> None:
        self._problem = problem
        self._columns = columns
        self._model = cp_model.CpModel()
        self._picked = [self._model.new_bool_var("") for _ in columns]
        self._holding: list[list[cp_model.IntVar]] = [[] for _ in problem.units]
        for column, picked in zip(columns, self._picked, strict=True):
            for u in column:
                self._holding[u].append(picked)
        self._model.add(cp_model.LinearExpr.sum(self._picked) <= count)
        self.building_units = _UNITS_A_LITERAL * sum(map(len, columns))
        self.status = Status.UNKNOWN
        self.bound: int | None = None

    def serve_all(self) -> None:
        """Demand that every unit is served."""
        for holding in self._holding:
            self._model.add_bool_or(holding)

    def serve_most(self) -> None:
        """Ask for the largest gain."""
        served = []
        for holding in self._holding:
            served.append(self._model.new_bool_var(""))
            self._model.add_bool_or([~served[-1], *holding])
        gains = [unit.gain for unit in self._problem.units]
        self._model.maximize(cp_model.LinearExpr.weighted_sum(served, gains))

    def solve(self, budget: Budget, seed: int) -> tuple[Image, ...]:
        """Return the images picked, none where there are none or the budget did not suffice.

        Raises
        ------
        RuntimeError
            If CP-SAT answers with a status that it does not document.
        """
        budget.charge(self.building_units)
        if budget.spent:
            return ()
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = budget.left
        solver.parameters.random_seed = seed
        solver.parameters.catch_sigint_signal = False  # or an interrupt only ends this search, and is lost
        status = solver.solve(self._model)
        budget.charge(solver.response_proto.deterministic_time)
        self.status = Status[solver.status_name(status)] if status != cp_model.MODEL_INVALID else _invalid()
        if self._model.proto.has_objective() and status != cp_model.UNKNOWN:
            self.bound = round(solver.best_objective_bound)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return ()
        return tuple(
            column
            for column, picked in zip(self._columns, self._picked, strict=True)
            if solver.boolean_value(picked)
        )


def _invalid() -> Status:
    raise RuntimeError("CP-SAT says that a valid model is not one")
