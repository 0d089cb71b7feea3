"""Composition of SWE-bench Verified's resolved environments: what K images under a size cap can serve.

    python experiments/02-solvers/verified.py
    python experiments/02-solvers/verified.py --work 60 --caps 150 342

Each of the 500 tasks has the exact conda and pip packages of its environment; equal sets are one class that
weighs as many tasks as have it. The packages' sizes are not known, so each counts 1, and a cap is a number of
packages. A set that is baked passes with probability 1, one that is not with 0; there is one base, of size 0.

Each point runs in a process of its own; its line is appended to ``results/verified.jsonl`` at once. Started
again, the script makes only the runs that are not there yet (same version, cap, K and limit). ``--sweep``
solves all K of a cap in one call instead. ``--table`` prints what is there and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pmed import read

if TYPE_CHECKING:
    from solvers.composition.instance import CompositionInstance
    from solvers.composition.result import CompositionResult

HERE = Path(__file__).parent
FACTS = HERE.parents[1].parent / "shared" / "facts" / "verified_resolved_envs.jsonl"
RESULTS = HERE / "results" / "verified.jsonl"
LARGEST_SET = 342
CAPS = (90, 150, LARGEST_SET, 513)
KS = range(1, 13)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=float, default=60.0, help="units of counted work a point")
    parser.add_argument("--caps", type=int, nargs="+", default=CAPS, help="packages in an image")
    parser.add_argument("--ks", type=int, nargs="+", default=list(KS), help="numbers of images")
    parser.add_argument("--sweep", action="store_true", help="all K of a cap in one call")
    parser.add_argument("--table", action="store_true")
    parser.add_argument(
        "--one", type=int, nargs="+", metavar="N", help="for the script itself: a cap, then K"
    )
    given = parser.parse_args()
    if given.one:
        for line in run(given.one[0], given.one[1:], given.work, sweeping=given.sweep):
            print(json.dumps(line))
        return
    if given.table:
        print("\n".join(table(read(RESULTS))))
        return
    there = {key(line) for line in read(RESULTS)}
    for cap in given.caps:
        for ks in [given.ks] if given.sweep else [[k] for k in given.ks]:
            asked = {"cap": cap, "work": given.work, "sweep": given.sweep, "version": version("envfold")}
            if all(key({"k": k, **asked}) in there for k in ks):
                continue
            command = [sys.executable, __file__, "--work", str(given.work), "--one", *map(str, (cap, *ks))]
            command += ["--sweep"] if given.sweep else []
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            with RESULTS.open("a", encoding="utf-8") as stream:
                stream.write(ended.stdout)
                stream.flush()
                os.fsync(stream.fileno())
            print(ended.stdout, end="")


def key(line: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells one run from another."""
    return tuple(line[name] for name in ("cap", "k", "work", "sweep", "version"))


def instance(cap: int, k: int) -> CompositionInstance:
    """Return the instance: the sets by the number of their tasks, then by name."""
    from solvers.composition.instance import CompositionInstance, Goal  # noqa: PLC0415 - not the run's

    tasks: Counter[tuple[str, ...]] = Counter()
    for line in FACTS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        packages = {f"python={record['python']}"}
        packages |= {f"conda {package}" for package in record["conda"]}
        packages |= {f"pip {package}" for package in record["pip"]}
        tasks[tuple(sorted(packages))] += 1
    sets = sorted(tasks, key=lambda packages: (-tasks[packages], packages))
    names = sorted({package for packages in sets for package in packages})
    place = {package: p for p, package in enumerate(names)}
    count = len(sets)
    return CompositionInstance(
        sizes=np.ones(len(names), dtype=np.int64),
        venvs=tuple(tuple(place[package] for package in packages) for packages in sets),
        base_sizes=np.zeros(1, dtype=np.int64),
        runs_on=np.ones((count, 1), dtype=np.bool_),
        capacity=cap,
        goal=Goal.COVERAGE,
        max_images=k,
        conflicts=(),
        weights=np.array([float(tasks[packages]) for packages in sets]),
        class_venvs=np.arange(count),
        baked=np.ones(count),
        fallback=np.zeros(count),
        forbids=((),) * count,
        admitted=np.ones((count, 1), dtype=np.bool_),
    )


def run(cap: int, ks: list[int], work: float, *, sweeping: bool) -> list[dict[str, Any]]:
    """Return the lines of one process: from the instance in memory to the checked answers."""
    from solvers.composition.compose import compose  # noqa: PLC0415 - its import is not the run's
    from solvers.composition.sweep import sweep  # noqa: PLC0415
    from solvers.result import Limits  # noqa: PLC0415

    given, limits = instance(cap, ks[0]), Limits(deterministic_time=work)
    started, processor = time.perf_counter(), time.process_time()
    results = sweep(given, ks, limits) if sweeping else [compose(given, limits)]
    measured = {
        "seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(time.process_time() - processor, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    asked = {"cap": cap, "work": work, "sweep": sweeping, "version": version("envfold")}
    return [asked | {"k": k} | said(result) | measured for k, result in zip(ks, results, strict=True)]


def said(result: CompositionResult) -> dict[str, Any]:
    """Return what an answer says."""
    return {
        "objective": result.objective,
        "bound": result.bound,
        "gap": round(result.gap, 6),
        "status": result.status.value,
        "method": result.method,
        "images": [[image.size, len(image.venvs)] for image in result.images],
        "refused": len(result.refused),
        "ortools": version("ortools"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Return the points as Markdown; the seconds of a sweep are those of all its points."""
    rows = [
        "| cap | K | tasks served | bound | gap % | status | s | CPU s | MiB | method |",
        "|--:|--:|--:|--:|--:|---|--:|--:|--:|---|",
    ]
    for line in sorted(lines, key=lambda line: (line["sweep"], line["work"], line["cap"], line["k"])):
        cells = [line["cap"], line["k"], f"{line['objective']:.0f}", f"{line['bound']:.2f}"]
        cells += [f"{100 * line['gap']:.2f}", line["status"], line["seconds"], line["cpu_seconds"]]
        cells += [line["peak_mib"], line["method"] + (" (sweep)" if line["sweep"] else "")]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return rows


if __name__ == "__main__":
    main()
