"""The dense random instance on which the naive CP-SAT model fails: 1,000 classes, 400 candidates, K = 10.

    python experiments/02-solvers/dense.py greedy
    python experiments/02-solvers/dense.py envfold --time-limit 60
    python experiments/02-solvers/dense.py cpsat-naive --time-limit 60
    python experiments/02-solvers/dense.py cpsat-naive-2 --time-limit 60     (two workers)
    python experiments/02-solvers/dense.py highs --time-limit 60             (radius form)

Appends a line to ``results/dense.jsonl``; a run that is there already is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import cpsat_naive, highs
from records import HERE, append, code, machine, read

from solvers.selection.document import SelectionDocument, dump
from solvers.selection.instance import SelectionInstance

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from peers import Outcome

RESULTS = HERE / "results" / "dense.jsonl"
SOLVERS = ("greedy", "envfold", "cpsat-naive", "cpsat-naive-2", "highs")
UNITS = 10**6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solver", choices=SOLVERS)
    parser.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        help="processor seconds a worker; for envfold, units of work",
    )
    given = parser.parse_args()
    instance = random_instance()
    package = "highspy" if given.solver == "highs" else "ortools"
    wanted = {
        "solver": given.solver,
        package: version(package),
        "time_limit": given.time_limit,
        "limit_of": "work" if given.solver in {"envfold", "greedy"} else "processor time",
        "instance_sha256": hashlib.sha256(dump(SelectionDocument(instance=instance))).hexdigest(),
        "machine": machine(),
    }
    if given.solver in {"envfold", "greedy"}:
        wanted["code"] = code("selection")
    if any({**line, **wanted} == line for line in read(RESULTS)):
        return
    by = {"greedy": by_greedy, "envfold": by_envfold}.get(given.solver, by_peer(given.solver))
    started, used = time.perf_counter(), time.process_time()
    found = by(instance, given.time_limit)
    line = {
        **wanted,
        **found,
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - used, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    append(RESULTS, line)
    print(json.dumps(line))


def random_instance() -> SelectionInstance:
    """Return the instance; its probabilities have six digits, what the solver reads."""
    rng = np.random.default_rng(0)
    return SelectionInstance(
        weights=rng.integers(1, 20, 1000).astype(float),
        probabilities=np.round(rng.random((1000, 400)), 6),
        allowed=np.ones((1000, 400), dtype=np.bool_),
        existing=np.zeros(400, dtype=np.bool_),
        sizes=np.zeros(400, dtype=np.int64),
        max_new=10,
    )


def by_greedy(instance: SelectionInstance, limit: float) -> dict[str, Any]:  # noqa: ARG001 - it takes none
    from solvers.selection.greedy import greedy  # noqa: PLC0415 - ortools and highspy do not load together
    from solvers.selection.reduce import reduce_instance  # noqa: PLC0415

    chosen = greedy(reduce_instance(instance).problem)
    return {"status": "FEASIBLE", "objective": passes(instance, list(chosen)), "bound": None}


def by_envfold(instance: SelectionInstance, limit: float) -> dict[str, Any]:
    from solvers.result import Limits  # noqa: PLC0415
    from solvers.selection.select import select  # noqa: PLC0415

    result = select(instance, Limits(deterministic_time=limit))
    return {
        "status": result.status.value,
        "objective": passes(instance, list(result.chosen)),
        "bound": round(result.bound, 3),
        "method": result.method,
    }


def by_peer(solver: str) -> Any:
    """Return the solver as a function of the instance and the limit."""

    def run(instance: SelectionInstance, limit: float) -> dict[str, Any]:
        distances, k = as_costs(instance), instance.max_new
        if solver == "highs":
            outcome = highs(distances, k, limit)
        else:
            outcome = cpsat_naive(distances, k, limit, workers=2 if solver.endswith("-2") else 1)
        return described(instance, outcome)

    return run


def as_costs(instance: SelectionInstance) -> NDArray[np.int64]:
    """Return what each pair falls short of certainty, in millionths of a pass; shape (n, m)."""
    weights = instance.weights[:, None]
    costs: NDArray[np.int64] = np.rint(weights * (1 - instance.probabilities) * UNITS).astype(np.int64)
    return costs


def described(instance: SelectionInstance, outcome: Outcome) -> dict[str, Any]:
    total = float(instance.weights.sum())
    answered = outcome.cost is not None
    return {
        "status": "OPTIMAL" if outcome.proven else "FEASIBLE" if answered else "UNKNOWN",
        "objective": None if outcome.cost is None else round(total - outcome.cost / UNITS, 3),
        "bound": None if outcome.bound is None else round(total - outcome.bound / UNITS, 3),
    }


def passes(instance: SelectionInstance, chosen: list[int]) -> float:
    """Return the objective when every class goes to the best of `chosen`."""
    return round(float(instance.weights @ instance.probabilities[:, chosen].max(axis=1)), 3)


if __name__ == "__main__":
    main()
