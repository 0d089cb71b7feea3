"""One problem from start to proof: search, bound, fix, branch, break ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from solvers.budget import Budget
from solvers.selection.fixing import survivors
from solvers.selection.greedy import greedy
from solvers.selection.lagrangian import Ascent, Pace, dual_at
from solvers.selection.prove import prove
from solvers.selection.swap import swap_search
from solvers.selection.ties import break_ties, without_idle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.result import Limits
    from solvers.selection.problem import Problem, Ties

_PACE = Pace(first=1.0, last=1e-3, patience=30)
_PATIENT_PACE = Pace(first=1.5, last=0.05, patience=100, memory=0.0)
_PATIENT_SHARE = 0.4
_STEPS = 200
_ROUNDS = 10
_TIE_NODES = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """A selection with its proof, and the multipliers that a larger cap can start from.

    Parameters
    ----------
    chosen
        Ascending.
    value, bound
        In units of the problem.
    ties_broken
        Whether no selection of this value is lexicographically better.
    method
        What found and proved it.
    multipliers
        Shape (n,).
    """

    chosen: tuple[int, ...]
    value: int
    bound: int
    ties_broken: bool
    method: str
    multipliers: NDArray[np.float64]


class _Incumbent:
    """The best selection met so far."""

    def __init__(self, problem: Problem, chosen: tuple[int, ...]) -> None:
        self._problem = problem
        self.chosen = chosen
        self.value = problem.value(chosen)
        self._best_start = -1

    def offer(self, chosen: Sequence[int]) -> None:
        """Keep `chosen` if it is better."""
        value = self._problem.value(chosen)
        if value > self.value:
            self.chosen, self.value = tuple(sorted(chosen)), value

    def visit(self, problem: Problem, names: NDArray[np.int64], opened: NDArray[np.int64]) -> int:
        """Take in what a relaxation of `problem` opens; search around it if it is the best such start."""
        value = problem.value(opened)
        if value > self._best_start:
            self._best_start = value
            found = swap_search(problem, tuple(map(int, opened)))
            self.offer(tuple(map(int, names[list(found)])))
        return self.value


def solve(problem: Problem, ties: Ties, limits: Limits, smaller: Answer | None = None) -> Answer:
    """Solve `problem`, starting from the answer to a smaller cap where there is one."""
    best = _Incumbent(problem, swap_search(problem, greedy(problem)))
    multipliers = problem.best(best.chosen)
    if smaller is not None:
        best.offer(swap_search(problem, smaller.chosen))
        multipliers = min(multipliers, smaller.multipliers, key=lambda given: dual_at(problem, given).bound)
    names, ascent = _bounded(problem, best, multipliers)
    budget = Budget(left=limits.deterministic_time)
    names, ascent = _closer(names, ascent, best, budget.part(_PATIENT_SHARE))
    here, dual = ascent.problem, ascent.best
    known = tuple(map(int, np.searchsorted(names, best.chosen)))
    proof = prove(here, dual, known, budget, limits.seed)
    chosen = without_idle(problem, ties, [int(names[j]) for j in proof.chosen])
    broken = False
    methods = ["swap search", "Lagrangian bound", *proof.methods]
    if proof.proven and smaller is not None and smaller.ties_broken and smaller.value == proof.value:
        # nothing gained: the best of the smaller cap has the fewest new candidates here too
        chosen, broken = smaller.chosen, True
    elif proof.proven:
        known = tuple(map(int, np.searchsorted(names, chosen)))
        local = ties.restricted(names)
        result = break_ties(
            here, local, dual, known, budget, nodes=_TIE_NODES * proof.nodes, seed=limits.seed
        )
        chosen, broken = tuple(map(int, names[list(result.chosen)])), result.proven
        methods += [result.method] if result.method else []
    return Answer(
        chosen=chosen,
        value=proof.value,
        bound=proof.bound,
        ties_broken=broken,
        method=", ".join(methods),
        multipliers=dual.multipliers,
    )


def _bounded(
    problem: Problem, best: _Incumbent, multipliers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], Ascent]:
    """Return the candidates that a selection as good as `best` may contain, and multipliers for them."""
    names = np.arange(len(problem.new))
    ascent = Ascent(problem, multipliers, _PACE)
    for _ in range(_ROUNDS):
        ascent.run(best.value, _STEPS, partial(best.visit, ascent.problem, names))
        left = survivors(ascent.problem, ascent.best, best.value).possible
        ascent.narrow(left)
        names = names[left]
        if ascent.settled or ascent.best.bound < best.value + problem.unit:
            break
    return names, ascent


def _closer(
    names: NDArray[np.int64], ascent: Ascent, best: _Incumbent, budget: Budget
) -> tuple[NDArray[np.int64], Ascent]:
    """Go on with the bound by long steps that are not shortened soon, where it is still far.

    Without a gap of duality, steps of up to twice Polyak's length converge, however slowly (Polyak 1969,
    doi:10.1016/0041-5553(69)90061-5); the quick schedule has shortened its steps too early then.
    """
    patient = Ascent(ascent.problem, ascent.best.multipliers, _PATIENT_PACE)
    while not (patient.settled or budget.spent or patient.best.bound < best.value + patient.problem.unit):
        cells, before = patient.problem.values.size, patient.steps
        patient.run(best.value, _STEPS, partial(best.visit, patient.problem, names))
        budget.charge_steps(patient.steps - before + 1, cells)
        left = survivors(patient.problem, patient.best, best.value).possible
        patient.narrow(left)
        names = names[left]
    return names, patient
