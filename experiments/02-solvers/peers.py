"""The other solvers, each from a distance matrix to what it found and proved.

The radius formulation is Elloumi's: z[i, k] says that no vertex nearer to i than its k-th different distance
is open, and costs the step to the next (Garcia, Labbe & Marin 2011, doi:10.1287/ijoc.1100.0418).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a solver says: ``proven`` or not, its cost, and the cost that it proves to be unavoidable."""

    proven: bool
    cost: int | None
    bound: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class RadiusModel:
    """Minimise ``costs @ x + constant``, x in [0, 1], the first `sites` columns whole.

    Every row is columns, their factors, and the least that the sum may be.
    """

    constant: int
    costs: list[float]
    rows: list[tuple[list[int], list[float], float]]
    sites: int


def radius_model(distances: NDArray[np.int64], p: int) -> RadiusModel:
    """Return the model; columns 0 to n - 1 open a vertex, the others are steps."""
    n = len(distances)
    costs = [0.0] * n
    rows: list[tuple[list[int], list[float], float]] = []
    constant = 0
    for row in distances:
        # p open vertices leave n - p closed ones, so that one of the n - p + 1 nearest is open
        furthest = np.partition(row, n - p)[n - p]
        levels = np.unique(row[row <= furthest])
        constant += int(levels[0])
        before: int | None = None
        for k in range(len(levels) - 1):
            step = len(costs)
            costs.append(float(levels[k + 1] - levels[k]))
            near = [int(j) for j in np.flatnonzero(row == levels[k])]
            columns, values = [*near, step], [1.0] * (len(near) + 1)
            if before is not None:
                columns.append(before)
                values.append(-1.0)
            rows.append((columns, values, 1.0 if before is None else 0.0))
            before = step
    return RadiusModel(constant=constant, costs=costs, rows=rows, sites=n)


def highs(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:
    """HiGHS on the radius model, one thread."""
    import highspy  # noqa: PLC0415 - each run imports its own solver only

    model = radius_model(distances, p)
    n, columns = model.sites, len(model.costs)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, len(model.rows) + 1
    lp.col_cost_ = np.array(model.costs)
    lp.offset_ = float(model.constant)
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.ones(columns)
    lp.row_lower_ = np.array([least for _, _, least in model.rows] + [0.0])
    lp.row_upper_ = np.array([highspy.kHighsInf] * len(model.rows) + [float(p)])
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n + [highspy.HighsVarType.kContinuous] * (columns - n)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    sizes = [len(row) for row, _, _ in model.rows] + [n]
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    lp.a_matrix_.index_ = np.array(
        [j for row, _, _ in model.rows for j in row] + list(range(n)), dtype=np.int32
    )
    lp.a_matrix_.value_ = np.array([v for _, values, _ in model.rows for v in values] + [1.0] * n)
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("time_limit", limit),
        ("mip_rel_gap", 0.0),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    solver.run()
    info = solver.getInfo()
    known = info.primal_solution_status == 2
    opened = [j for j, value in enumerate(solver.getSolution().col_value[:n]) if value > 0.5] if known else []
    return Outcome(
        proven=solver.getModelStatus() == highspy.HighsModelStatus.kOptimal,
        cost=_cost(distances, opened),
        bound=_finite(info.mip_dual_bound),
    )


def scip(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:
    """SCIP on the radius model, one thread."""
    from pyscipopt import Model, quicksum  # noqa: PLC0415

    model = radius_model(distances, p)
    solver = Model()
    solver.hideOutput()
    solver.setParam("limits/time", limit)
    n = model.sites
    variables = [
        solver.addVar(vtype="B" if j < n else "C", lb=0, ub=1, obj=cost) for j, cost in enumerate(model.costs)
    ]
    for columns, values, least in model.rows:
        solver.addCons(quicksum(v * variables[j] for j, v in zip(columns, values, strict=True)) >= least)
    solver.addCons(quicksum(variables[:n]) <= p)
    solver.addObjoffset(model.constant)
    solver.optimize()
    found = solver.getNSols() > 0
    opened = [j for j in range(n) if solver.getVal(variables[j]) > 0.5] if found else []
    return Outcome(
        proven=solver.getStatus() == "optimal",
        cost=_cost(distances, opened),
        bound=_finite(solver.getDualbound()),
    )


def cpsat_naive(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:
    """CP-SAT as one would write it first: a Boolean a pair, one worker, default settings."""
    from ortools.sat.python import cp_model  # noqa: PLC0415

    n = len(distances)
    model = cp_model.CpModel()
    opened = [model.new_bool_var("") for _ in range(n)]
    terms: list[Any] = []
    costs: list[int] = []
    for i in range(n):
        row = [model.new_bool_var("") for _ in range(n)]
        model.add_exactly_one(row)
        for j in range(n):
            model.add_implication(row[j], opened[j])
        terms += row
        costs += [int(d) for d in distances[i]]
    model.add(cp_model.LinearExpr.sum(opened) <= p)
    model.minimize(cp_model.LinearExpr.weighted_sum(terms, costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    found = status in {cp_model.OPTIMAL, cp_model.FEASIBLE}
    chosen = [j for j in range(n) if solver.boolean_value(opened[j])] if found else []
    return Outcome(
        proven=status == cp_model.OPTIMAL,
        cost=_cost(distances, chosen),
        bound=_finite(solver.best_objective_bound),
    )


def fasterpam(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:  # noqa: ARG001 - it takes none
    """FasterPAM, the best of 20 random starts; it proves nothing."""
    import kmedoids  # noqa: PLC0415

    floats = distances.astype(np.float64)
    best = min(kmedoids.fasterpam(floats, p, random_state=seed).loss for seed in range(20))
    return Outcome(proven=False, cost=round(float(best)))


PEERS = {"highs": highs, "scip": scip, "cpsat-naive": cpsat_naive, "fasterpam": fasterpam}


def _cost(distances: NDArray[np.int64], opened: list[int]) -> int | None:
    return int(distances[:, opened].min(axis=1).sum()) if opened else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) and abs(value) < 1e20 else None
