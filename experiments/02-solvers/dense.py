"""The dense random instance on which the naive CP-SAT model fails: 1,000 classes, 400 candidates, K = 10.

    python experiments/02-solvers/dense.py greedy
    python experiments/02-solvers/dense.py envfold --time-limit 60
    python experiments/02-solvers/dense.py cpsat-naive --time-limit 60

Appends a line to ``results/dense.jsonl``; a run that is there already is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from solvers.result import Limits
from solvers.selection.document import SelectionDocument, dump
from solvers.selection.greedy import greedy
from solvers.selection.instance import SelectionInstance
from solvers.selection.reduce import reduce_instance
from solvers.selection.select import select

RESULTS = Path(__file__).parent / "results" / "dense.jsonl"
SOLVERS = ("greedy", "envfold", "cpsat-naive")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solver", choices=SOLVERS)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds; for envfold, units of work")
    given = parser.parse_args()
    instance = random_instance()
    wanted = {
        "solver": given.solver,
        "ortools": version("ortools"),
        "time_limit": given.time_limit,
        "instance_sha256": hashlib.sha256(dump(SelectionDocument(instance=instance))).hexdigest(),
    }
    if any({**line, **wanted} == line for line in read()):
        return
    started = time.perf_counter()
    found = {"greedy": by_greedy, "envfold": by_envfold, "cpsat-naive": by_naive_model}[given.solver](
        instance, given.time_limit
    )
    seconds = round(time.perf_counter() - started, 1)
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    line = json.dumps({**wanted, **found, "seconds": seconds, "peak_mb": peak})
    with RESULTS.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    print(line)


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


def read() -> list[dict[str, Any]]:
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def by_greedy(instance: SelectionInstance, limit: float) -> dict[str, Any]:  # noqa: ARG001 - it takes none
    chosen = greedy(reduce_instance(instance).problem)
    return {"status": "FEASIBLE", "objective": passes(instance, list(chosen)), "bound": None}


def by_envfold(instance: SelectionInstance, limit: float) -> dict[str, Any]:
    result = select(instance, Limits(deterministic_time=limit))
    return {
        "status": result.status.value,
        "objective": passes(instance, list(result.chosen)),
        "bound": round(result.bound, 3),
        "method": result.method,
    }


def by_naive_model(instance: SelectionInstance, limit: float) -> dict[str, Any]:
    """Return what CP-SAT makes of a Boolean a pair and implications, with one worker and default settings."""
    n, m = instance.probabilities.shape
    values = np.rint(instance.weights[:, None] * instance.probabilities * 1e6).astype(np.int64)
    model = cp_model.CpModel()
    opened = [model.new_bool_var("") for _ in range(m)]
    terms, gains = [], []
    for i in range(n):
        row = [model.new_bool_var("") for _ in range(m)]
        model.add_at_most_one(row)
        for j in range(m):
            model.add_implication(row[j], opened[j])
        terms += row
        gains += values[i].tolist()
    model.add(cp_model.LinearExpr.sum(opened) <= instance.max_new)
    model.maximize(cp_model.LinearExpr.weighted_sum(terms, gains))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    found = status in {cp_model.OPTIMAL, cp_model.FEASIBLE}
    chosen = [j for j in range(m) if solver.boolean_value(opened[j])] if found else []
    return {
        "status": solver.status_name(status),
        "objective": solver.objective_value / 1e6 if found else None,
        "objective_reassigned": passes(instance, chosen) if found else None,
        "bound": round(solver.best_objective_bound / 1e6, 3),
    }


def passes(instance: SelectionInstance, chosen: list[int]) -> float:
    """Return the objective when every class goes to the best of `chosen`."""
    return round(float(instance.weights @ instance.probabilities[:, chosen].max(axis=1)), 3)


if __name__ == "__main__":
    main()
