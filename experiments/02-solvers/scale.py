"""Selection at scale: 100,000 tasks in 5,000 classes x 2,000 candidates, and 1,000 to 1,000,000 tasks.

    python experiments/02-solvers/scale.py target
    python experiments/02-solvers/scale.py growth
    python experiments/02-solvers/scale.py --document FILE --max-environments 40

The instances are generated (`population.py` says how); ``--document`` runs what ``envfold propose DATASET
--dump-instance FILE`` has written instead. Every run is a process of its own, and its line, with the hash of
its instance, is appended to ``results/scale.jsonl`` at once. Started again, the script makes only the runs
that are not there yet (same code, instance and limit).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records import HERE, append, code, machine, read

if TYPE_CHECKING:
    from solvers.selection.instance import SelectionInstance

RESULTS = HERE / "results" / "scale.jsonl"
NOISE = 0.1
KINDS = ("structured", "noisy", "unstructured")
_TARGET = [
    {"part": "target", "kind": kind, "tasks": 100_000, "n": 5000, "m": 2000, "k": k}
    for kind in KINDS
    for k in (10, 40)
]
_GROWTH = [
    {"part": "growth", "kind": "noisy", "tasks": tasks, "n": tasks // 20, "m": m, "k": 10}
    for tasks, m in (
        (1000, 400),
        (3000, 400),
        (10_000, 400),
        (30_000, 400),
        (100_000, 400),
        (300_000, 400),
        (1_000_000, 400),
    )
]
PARTS = {"target": _TARGET, "growth": _GROWTH}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=sorted(PARTS), nargs="?")
    parser.add_argument("--time-limit", type=float, default=60.0, help="units of counted work")
    parser.add_argument("--document", type=Path, help="an instance document")
    parser.add_argument("--max-environments", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--one", type=json.loads, help="for the script itself")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one, given.time_limit)))
        return
    wanted = list(PARTS.get(given.part, []))
    if given.document:
        path = str(given.document.resolve())
        wanted += [
            {"part": "document", "kind": given.document.stem, "path": path, "k": k}
            for k in given.max_environments
        ]
    for case in wanted:
        if done(case, given.time_limit):
            continue
        line = in_a_process(case, given.time_limit)
        append(RESULTS, line)
        print(json.dumps(line), flush=True)


def heading(case: dict[str, Any], limit: float) -> dict[str, Any]:
    named = {name: value for name, value in case.items() if name != "path"}
    return {**named, "time_limit": limit, "code": code("selection"), "ortools": version("ortools")}


def done(case: dict[str, Any], limit: float) -> bool:
    wanted = heading(case, limit)
    return any({**line, **wanted} == line for line in read(RESULTS))


def in_a_process(case: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the line of a run in a fresh process; a crash is a line too."""
    command = [sys.executable, __file__, "--time-limit", str(limit), "--one", json.dumps(case)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return dict(json.loads(ended.stdout.splitlines()[-1]))
    why = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
    return {**heading(case, limit), "status": "FAILED", "why": why}


def run(case: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the line of one run: from the instance in memory to the checked answer."""
    from solvers.result import Limits  # noqa: PLC0415 - the parent needs no solver
    from solvers.selection.select import select  # noqa: PLC0415

    instance = instance_of(case)
    before = _peak()
    started, used = time.perf_counter(), time.process_time()
    result = select(instance, Limits(deterministic_time=limit))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    return {
        **heading(case, limit),
        "n": len(instance.weights),
        "m": len(instance.sizes),
        "tasks": round(float(instance.weights.sum())),
        "instance_sha256": digest(instance),
        "machine": machine(),
        "status": result.status.value,
        "objective": round(result.objective, 3),
        "bound": round(result.bound, 3),
        "gap": round(result.gap, 8),
        "method": result.method,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used, 1),
        "peak_mb": round(_peak()),
        "peak_mb_before": round(before),
    }


def instance_of(case: dict[str, Any]) -> SelectionInstance:
    from dataclasses import replace  # noqa: PLC0415

    import population  # noqa: PLC0415

    from solvers.selection.document import load  # noqa: PLC0415

    if "path" in case:
        return replace(load(Path(case["path"]).read_bytes()).instance, max_new=case["k"], max_total=None)
    size = {name: case[name] for name in ("tasks", "n", "m", "k")}
    if case["kind"] == "unstructured":
        return population.unstructured(**size)
    return population.realistic(**size, noise=NOISE if case["kind"] == "noisy" else 0.0)


def digest(instance: SelectionInstance) -> str:
    """Return a hash of what is solved, the cap aside."""
    hashed = hashlib.sha256()
    for array in (instance.weights, instance.probabilities, instance.allowed, instance.existing):
        hashed.update(array.tobytes())
    return hashed.hexdigest()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
