"""The other solvers, each from a distance matrix to what it found and proved.

The radius formulation is Elloumi's: z[i, k] says that no site nearer to i than its k-th different distance
is open, and costs the step to the next (Garcia, Labbe & Marin 2011, doi:10.1287/ijoc.1100.0418).

A `Watch` is told the processor seconds since the start, the cost of the best answer and the bound, whenever
there is news.

Time limits are seconds of processor time, so that a busy machine does not decide what a solver proves; spopt
alone, which hands its model on, is limited by the clock.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    Watch: TypeAlias = Callable[[float, float | None, float | None], object]


_PATIENCE = 10
"""Seconds of wall time a second of processor time, after which a solver that was not stopped is."""


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
    """Return the model for distances of shape (clients, sites); its first columns open a site each."""
    sites = distances.shape[1]
    costs = [0.0] * sites
    rows: list[tuple[list[int], list[float], float]] = []
    constant = 0
    for row in distances:
        # p open sites leave the others closed, so that one of the sites - p + 1 nearest is open
        furthest = np.partition(row, sites - p)[sites - p]
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
    return RadiusModel(constant=constant, costs=costs, rows=rows, sites=sites)


@contextmanager
def stopped_after(limit: float, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` once the process has used so many seconds of processor time since here."""
    until, ended = time.process_time() + limit, threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            if time.process_time() >= until:
                stop()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def highs(distances: NDArray[np.int64], p: int, limit: float, watch: Watch | None = None) -> Outcome:
    """HiGHS on the radius model, one thread."""
    import highspy  # noqa: PLC0415 - each run imports its own solver only

    started = time.process_time()
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
        ("time_limit", _PATIENCE * limit),
        ("mip_rel_gap", 0.0),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    until = time.process_time() + limit

    def look(event: Any) -> None:
        if time.process_time() >= until:
            event.interrupt()

    def tell(event: Any) -> None:
        known = event.data_out
        if watch is not None:
            watch(
                time.process_time() - started, _finite(known.mip_primal_bound), _finite(known.mip_dual_bound)
            )

    if watch is not None:
        solver.cbMipLogging.subscribe(tell)
    for callback in (solver.cbMipInterrupt, solver.cbSimplexInterrupt, solver.cbIpmInterrupt):
        callback.subscribe(look)
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
    solver.setParam("timing/clocktype", 1)  # processor time
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


def cpsat_naive(
    distances: NDArray[np.int64], p: int, limit: float, watch: Watch | None = None, workers: int = 1
) -> Outcome:
    """CP-SAT as one would write it first: a Boolean a pair, one worker if not told, default settings."""
    from ortools.sat.python import cp_model  # noqa: PLC0415

    started = time.process_time()
    n, sites = distances.shape
    model = cp_model.CpModel()
    opened = [model.new_bool_var("") for _ in range(sites)]
    terms: list[Any] = []
    costs: list[int] = []
    for i in range(n):
        row = [model.new_bool_var("") for _ in range(sites)]
        model.add_exactly_one(row)
        for j in range(sites):
            model.add_implication(row[j], opened[j])
        terms += row
        costs += [int(d) for d in distances[i]]
    model.add(cp_model.LinearExpr.sum(opened) <= p)
    model.minimize(cp_model.LinearExpr.weighted_sum(terms, costs))
    search = _Search(limit=limit, workers=workers, watch=watch, started=started)
    return _by_cpsat(model, opened, distances, search)


def cpsat_radius(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:
    """CP-SAT on the radius model as it is used most: one worker, otherwise default settings, no hint."""
    from ortools.sat.python import cp_model  # noqa: PLC0415

    started = time.process_time()
    radius = radius_model(distances, p)
    model = cp_model.CpModel()
    variables = [model.new_bool_var("") for _ in radius.costs]
    for columns, values, _ in radius.rows:
        model.add_bool_or(
            [variables[j] if v > 0 else ~variables[j] for j, v in zip(columns, values, strict=True)]
        )
    opened = variables[: radius.sites]
    model.add(cp_model.LinearExpr.sum(opened) <= p)
    costs = [round(cost) for cost in radius.costs]
    model.minimize(cp_model.LinearExpr.weighted_sum(variables, costs) + radius.constant)
    return _by_cpsat(model, opened, distances, _Search(limit=limit, started=started))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """How CP-SAT searches: processor seconds a worker, and who is told since when."""

    limit: float
    started: float
    workers: int = 1
    watch: Watch | None = None


def _by_cpsat(model: Any, opened: list[Any], distances: NDArray[np.int64], search: _Search) -> Outcome:
    from ortools.sat.python import cp_model  # noqa: PLC0415

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = search.workers
    solver.parameters.max_time_in_seconds = _PATIENCE * search.limit
    news = None
    if search.watch is not None:
        tell = search.watch

        class News(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
            """Tells of every better answer."""

            def on_solution_callback(self) -> None:
                tell(time.process_time() - search.started, self.objective_value, self.best_objective_bound)

        solver.best_bound_callback = lambda bound: tell(time.process_time() - search.started, None, bound)
        news = News()
    with stopped_after(search.limit * search.workers, solver.stop_search):
        status = solver.solve(model, news)
    found = status in {cp_model.OPTIMAL, cp_model.FEASIBLE}
    chosen = [j for j, variable in enumerate(opened) if solver.boolean_value(variable)] if found else []
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


def apricot(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:  # noqa: ARG001 - it takes none
    """apricot-select's lazy greedy for facility location; it proves nothing."""
    from apricot import FacilityLocationSelection  # noqa: PLC0415

    likeness = (distances.max() - distances).T.astype(np.float64)
    chosen = FacilityLocationSelection(p, metric="precomputed", optimizer="lazy").fit(likeness).ranking
    return Outcome(proven=False, cost=_cost(distances, [int(j) for j in chosen]))


def spopt(distances: NDArray[np.int64], p: int, limit: float) -> Outcome:
    """Solve spopt's model, a binary a pair, by HiGHS through PuLP; the limit is wall time of HiGHS."""
    import highspy  # noqa: PLC0415
    import pulp  # noqa: PLC0415
    from spopt.locate import PMedian  # noqa: PLC0415

    n = len(distances)
    model = PMedian.from_cost_matrix(distances.astype(np.float64), np.ones(n), p_facilities=p)
    model.problem.solve(pulp.HiGHS(msg=False, threads=1, timeLimit=limit, gapRel=0.0))
    solver = model.problem.solverModel
    info = solver.getInfo()
    known = info.primal_solution_status == 2
    opened = (
        [j for j, variable in enumerate(model.fac_vars) if (variable.value() or 0) > 0.5] if known else []
    )
    return Outcome(
        proven=solver.getModelStatus() == highspy.HighsModelStatus.kOptimal,
        cost=_cost(distances, opened),
        bound=_finite(info.mip_dual_bound),
    )


PEERS = {
    "highs": highs,
    "scip": scip,
    "cpsat-naive": cpsat_naive,
    "cpsat-radius": cpsat_radius,
    "spopt": spopt,
    "fasterpam": fasterpam,
    "apricot": apricot,
}


def _cost(distances: NDArray[np.int64], opened: list[int]) -> int | None:
    return int(distances[:, opened].min(axis=1).sum()) if opened else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) and abs(value) < 1e20 else None
