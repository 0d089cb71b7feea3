"""pmed1 to pmed40: envfold's selection solver and its peers, on the same distances and machine.

    python experiments/02-solvers/pmed.py envfold
    python experiments/02-solvers/pmed.py highs --instances 1-15 --time-limit 60

Every run is a process of its own, and its line is appended to ``results/pmed.jsonl`` at once. Started again,
the script makes only the runs that are not there yet (same solver, version, instance and limit; for envfold,
also the same code). A run that a busy machine starved is not kept.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import PEERS, Outcome
from records import HERE, append, code, machine
from records import read as read_all

from solvers.selection.pmedian import PMedian, load_pmedian

if TYPE_CHECKING:
    from pathlib import Path

BENCH = HERE.parents[1].parent / "shared" / "bench" / "pmed"
RESULTS = HERE / "results" / "pmed.jsonl"
OURS = "envfold"
PACKAGES = {
    OURS: "ortools",
    "highs": "highspy",
    "scip": "pyscipopt",
    "cpsat-naive": "ortools",
    "cpsat-radius": "ortools",
    "spopt": "spopt",
    "fasterpam": "kmedoids",
    "apricot": "apricot-select",
}
"""The package whose version decides what a solver does."""
LIMITED = ("highs", "scip", "spopt", "cpsat-naive", "cpsat-radius")
"""Solvers that run until they are stopped."""
_ENOUGH = 0.85


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solver", choices=sorted(PACKAGES))
    parser.add_argument("--instances", default="1-40", help="as 1-15 or 1,2,7")
    parser.add_argument(
        "--time-limit", type=float, default=60.0, help="processor seconds; for envfold, units"
    )
    parser.add_argument(
        "--one", action="store_true", help="run here and print the line, for the script itself"
    )
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.solver, int(given.instances), given.time_limit)))
        return
    for number in numbers(given.instances):
        if done(given.solver, number, given.time_limit):
            continue
        line = in_a_process(given.solver, number, given.time_limit)
        append(RESULTS, line)
        print(
            f"{line['instance']} {given.solver}: {line.get('cost')} {line['status']} {line['seconds']} s",
            flush=True,
        )


def numbers(text: str) -> list[int]:
    """Return the instances that ``1-3,7`` names."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def read(path: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the runs so far."""
    return read_all(path)


def done(solver: str, number: int, limit: float) -> bool:
    wanted = heading(solver, number, limit)
    return any({**line, **wanted} == line for line in read())


def starved(line: dict[str, Any]) -> bool:
    """Whether a busy machine kept a run from the processor time that it was to have."""
    if line["solver"] not in LIMITED or line["status"] in {"OPTIMAL", "FAILED"}:
        return False
    return bool(line["cpu_seconds"] < _ENOUGH * line["time_limit"])


def in_a_process(solver: str, number: int, limit: float) -> dict[str, Any]:
    """Return the line of a run in a fresh process; a crash or an overrun is a line too."""
    command = [
        sys.executable,
        __file__,
        solver,
        "--instances",
        str(number),
        "--time-limit",
        str(limit),
        "--one",
    ]
    started = time.perf_counter()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=12 * limit + 120, check=False)
        if ended.returncode == 0:
            return dict(json.loads(ended.stdout.splitlines()[-1]))
        why = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
    except subprocess.TimeoutExpired:
        why = "killed: far over its time limit"
    line = heading(solver, number, limit)
    return {**line, "status": "FAILED", "why": why, "seconds": round(time.perf_counter() - started, 3)}


def heading(solver: str, number: int, limit: float) -> dict[str, Any]:
    return {
        "instance": f"pmed{number}",
        "solver": solver,
        "version": version(PACKAGES[solver]),
        "time_limit": limit,
        "limit_of": {OURS: "work", "spopt": "wall time"}.get(solver, "processor time"),
        "machine": machine(),
        **({"code": code("selection")} if solver == OURS else {}),
    }


def run(solver: str, number: int, limit: float) -> dict[str, Any]:
    """Return the line of one run: from distances to answer, building a model included."""
    problem = load_pmedian((BENCH / f"pmed{number}.txt").read_bytes())
    import_first(solver)
    started, used = time.perf_counter(), time.process_time()
    if solver == OURS:
        outcome, extra = ours(problem, limit)
    else:
        outcome, extra = PEERS[solver](problem.distances, problem.p, limit), {}
    seconds, used = time.perf_counter() - started, time.process_time() - used
    return {
        **heading(solver, number, limit),
        "n": len(problem.distances),
        "p": problem.p,
        "optimum": optimum(number),
        "status": "OPTIMAL" if outcome.proven else "FEASIBLE" if outcome.cost is not None else "UNKNOWN",
        **{name: value for name, value in asdict(outcome).items() if name != "proven"},
        "seconds": round(seconds, 3),
        "cpu_seconds": round(used, 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        **extra,
    }


def import_first(solver: str) -> None:
    """Import what the solver needs, so that no run is charged for it."""
    if solver == "apricot":  # compiles itself when it is used first
        PEERS[solver](np.arange(4)[:, None] + np.arange(4), 1, 0)
        return
    module = {OURS: "solvers.selection.select", "spopt": "spopt.locate"}
    ortools = "ortools.sat.python.cp_model"
    __import__(module.get(solver, ortools if PACKAGES[solver] == "ortools" else PACKAGES[solver]))


def ours(problem: PMedian, limit: float) -> tuple[Outcome, dict[str, Any]]:
    from solvers.result import Limits, Status  # noqa: PLC0415 - ortools and highspy do not load together
    from solvers.selection.select import select  # noqa: PLC0415

    result = select(problem.instance(), Limits(deterministic_time=limit))
    cost, bound = problem.cost(result), problem.least_cost(result)
    assert bound <= cost == int(problem.distances[np.arange(len(problem.distances)), result.assignment].sum())
    return Outcome(proven=result.status is Status.OPTIMAL, cost=cost, bound=bound), {"method": result.method}


def optimum(number: int) -> int:
    lines = (BENCH / "pmedopt.txt").read_text(encoding="utf-8").splitlines()
    known = dict(words for words in map(str.split, lines) if len(words) == 2)
    return int(known[f"pmed{number}"])


def gap(line: dict[str, Any]) -> float:
    """Return how far the cost of a run is above the known optimum, as a share; infinite without an answer."""
    cost = line.get("cost")
    return math.inf if cost is None else cost / line["optimum"] - 1


if __name__ == "__main__":
    main()
