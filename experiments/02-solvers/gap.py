"""How the gap closes with time, on the dense instance and on hard ones of pmed.

    python experiments/02-solvers/gap.py envfold
    python experiments/02-solvers/gap.py highs
    python experiments/02-solvers/gap.py cpsat-naive

envfold is run anew with every limit; the others are run once and asked while they run. A line of
``results/gap.jsonl`` is a run: processor seconds since the start, and the gap that was left then, 1 where
there was no answer. Every run is a process of its own; what is there already is not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from importlib.metadata import version
from typing import Any

import peers
from dense import as_costs, random_instance
from pmed import BENCH, PACKAGES
from records import HERE, append, code, machine, read

from solvers.selection.pmedian import load_pmedian

RESULTS = HERE / "results" / "gap.jsonl"
INSTANCES = ("dense", "pmed26", "pmed36", "pmed40")
LIMITS = (0, 1, 2, 5, 10, 30, 60)
OURS = "envfold"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solver", choices=(OURS, "highs", "cpsat-naive"))
    parser.add_argument("--instances", nargs="+", default=list(INSTANCES))
    parser.add_argument("--time-limit", type=float, default=60.0, help="processor seconds, for the others")
    parser.add_argument("--one", action="store_true", help="for the script itself")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.solver, given.instances[0], given.time_limit)))
        return
    for instance in given.instances:
        for limit in LIMITS if given.solver == OURS else (given.time_limit,):
            wanted = heading(given.solver, instance, limit)
            if any({**line, **wanted} == line for line in read(RESULTS)):
                continue
            command = [sys.executable, __file__, given.solver, "--instances", instance]
            command += ["--time-limit", str(limit), "--one"]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            line = json.loads(ended.stdout.splitlines()[-1])
            append(RESULTS, line)
            print(instance, given.solver, limit, line["trace"][-1], flush=True)
            if given.solver == OURS and line["trace"][-1][1] == 0:
                break


def heading(solver: str, instance: str, limit: float) -> dict[str, Any]:
    return {
        "solver": solver,
        "version": version(PACKAGES[solver]),
        "instance": instance,
        "time_limit": limit,
        "machine": machine(),
        **({"code": code("selection")} if solver == OURS else {}),
    }


def run(solver: str, name: str, limit: float) -> dict[str, Any]:
    """Return the line of one run."""
    if name == "dense":
        instance = random_instance()
        distances, p, total = as_costs(instance), instance.max_new, float(instance.weights.sum()) * 1e6
    else:
        problem = load_pmedian((BENCH / f"{name}.txt").read_bytes())
        distances, p, total = problem.distances, problem.p, None
    if solver == OURS:
        from solvers.result import Limits  # noqa: PLC0415 - ortools and highspy do not load together
        from solvers.selection.select import select  # noqa: PLC0415

        whole = instance if total is not None else problem.instance()
        used = time.process_time()
        result = select(whole, Limits(deterministic_time=limit))
        used = time.process_time() - used
        left = result.gap
        if total is None:
            cost = problem.cost(result)
            left = 1 - problem.least_cost(result) / cost
        return {**heading(solver, name, limit), "trace": [[round(used, 3), left]]}
    trace: list[list[float]] = []
    best: dict[str, float | None] = {"cost": None, "bound": None}

    def watch(seconds: float, cost: float | None, bound: float | None) -> None:
        best.update({key: value for key, value in (("cost", cost), ("bound", bound)) if value is not None})
        trace.append([round(seconds, 3), gap_of(best["cost"], best["bound"], total)])

    started = time.process_time()
    outcome = {"highs": peers.highs, "cpsat-naive": peers.cpsat_naive}[solver](distances, p, limit, watch)
    watch(time.process_time() - started, outcome.cost, outcome.bound)
    news = [point for i, point in enumerate(trace) if i in {0, len(trace) - 1} or point[1] != trace[i - 1][1]]
    return {**heading(solver, name, limit), "trace": news}


def gap_of(cost: float | None, bound: float | None, total: float | None) -> float:
    """Return (bound - objective) / bound, or (cost - bound) / cost where nothing is maximised."""
    if cost is None or bound is None:
        return 1.0
    if total is not None:
        return max(0.0, (cost - bound) / (total - bound))
    return max(0.0, (cost - bound) / cost)


if __name__ == "__main__":
    main()
