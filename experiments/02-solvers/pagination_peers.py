"""Other solvers on the pagination instances: the paper's own results, plain CP-SAT, and our heuristics alone.

    python experiments/02-solvers/pagination_peers.py

runs the heuristics that envfold's composition starts from, each as published (Grange, Kacem & Martin 2018,
doi:10.1016/j.cie.2017.10.015), on all instances, and appends a line an instance to
``results/pagination_peers.jsonl``. What the paper's solvers found, and in how many seconds on the machine of
2014, is in the instance files; plain CP-SAT (30 s, first-fit hint, pages ordered) in a table beside them.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from typing import TYPE_CHECKING, Any

from records import HERE, append, code, machine, read

if TYPE_CHECKING:
    from collections.abc import Mapping

BENCH = HERE.parents[1].parent / "shared" / "bench" / "pagination" / "gauss"
RESULTS = HERE / "results" / "pagination_peers.jsonl"
PUBLISHED = {
    "FirstFit": "first fit, published",
    "BestFusion": "best fusion, published",
    "OverloadAndRemove": "overload-and-remove, published",
    "OverloadAndRemovePresort": "overload-and-remove presorted, published",
    "GeneticStandard": "genetic algorithm, standard, published",
    "GeneticGroup": "genetic algorithm, grouping, published",
}

Key = tuple[str, int]
"""File and record."""

Outcome = tuple[int, float, bool]
"""Pages, seconds, and whether they are proven to be the fewest."""


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    there = {(line["file"], line["record"], line["code"]) for line in read(RESULTS)}
    own = code("composition")
    for path in sorted(BENCH.glob("*.json")):
        for number in range(len(json.loads(path.read_text(encoding="utf-8")))):
            if (path.name, number, own) not in there:
                append(RESULTS, run(path.name, number))


def run(name: str, number: int) -> dict[str, Any]:
    """Return what each heuristic finds on an instance, and its seconds."""
    from solvers.composition.overload import overload_and_remove  # noqa: PLC0415 - tables need no solver
    from solvers.composition.pagination import read_pagination  # noqa: PLC0415
    from solvers.composition.placement import best_fusion, by_size, first_fit  # noqa: PLC0415
    from solvers.composition.units import demands_of  # noqa: PLC0415

    instance = read_pagination((BENCH / name).read_text(encoding="utf-8"))[number]
    problem = demands_of(instance).problem
    given, largest = range(len(problem.units)), by_size(problem)
    runs = (
        ("first fit by overlap, ours", first_fit, largest),
        ("best fusion, ours", best_fusion, given),
        ("overload-and-remove, ours", overload_and_remove, given),
        ("overload-and-remove presorted, ours", overload_and_remove, largest),
    )
    found = {}
    for heuristic, method, order in runs:
        started = time.perf_counter()
        pages = len(method(problem, order))
        found[heuristic] = {"pages": pages, "seconds": round(time.perf_counter() - started, 4)}
    return {
        "file": name,
        "record": number,
        "code": code("composition"),
        "machine": machine(),
        "heuristics": found,
    }


def published() -> dict[str, dict[Key, Outcome]]:
    """Return by solver what is on record, CPLEX's answers included; an hour for CPLEX."""
    found: dict[str, dict[Key, Outcome]] = {name: {} for name in PUBLISHED.values()}
    cplex: dict[Key, Outcome] = {}
    for path in sorted(BENCH.glob("*.json")):
        for number, record in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            key = (path.name, number)
            for solver, name in PUBLISHED.items():
                found[name][key] = (record["solvers"][solver], record["times"][solver], False)
            pages = record.get("cplexOpt") or record.get("cplexUB")
            if pages is not None:
                cplex[key] = (pages, 3600.0, record.get("cplexOpt") is not None)
    return {**found, "CPLEX, up to an hour, published": cplex}


def plain_cpsat() -> dict[Key, Outcome]:
    found = {}
    with (BENCH.parent / "cpsat_results_ours.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            proven = row["status"] == "OPTIMAL"
            found[row["file"], int(row["index"])] = (int(row["pages"]), float(row["seconds"]), proven)
    return found


def ours() -> dict[str, dict[Key, Outcome]]:
    found: dict[str, dict[Key, Outcome]] = {}
    for line in read(RESULTS):
        for name, outcome in line["heuristics"].items():
            key = (line["file"], line["record"])
            found.setdefault(name, {})[key] = (outcome["pages"], outcome["seconds"], False)
    return found


def comparison(lines: list[dict[str, Any]]) -> list[str]:
    """Return tables of all solvers on the instances in `lines`, envfold's newest runs, as Markdown."""
    envfold = {
        (line["file"], line["record"]): (line["pages"], line["seconds"], line["status"] == "OPTIMAL")
        for line in lines
    }
    cpsat = plain_cpsat()
    solvers = {"envfold": envfold, **published(), **ours()}
    best = {key: min(own[key][0] for own in (*solvers.values(), cpsat) if key in own) for key in envfold}
    some = {key for key in envfold if key in cpsat}
    rows = ["", f"On the {len(envfold)} instances that envfold was run on:", "", *_table(solvers, best)]
    rows += ["", f"On the {len(some)} of them that plain CP-SAT was run on, 30 s each:", ""]
    rows += _table(
        {"plain CP-SAT": cpsat, **solvers}, {key: pages for key, pages in best.items() if key in some}
    )
    return rows


def _table(solvers: Mapping[str, Mapping[Key, Outcome]], best: Mapping[Key, int]) -> list[str]:
    rows = [
        "| solver | instances | best found | mean pages above best | most above | proven | mean s |",
        "|---|" + "--:|" * 6,
    ]
    for name, own in solvers.items():
        shared = [(own[key], best[key]) for key in best if key in own]
        if not shared:
            continue
        above = [pages - least for (pages, _, _), least in shared]
        proven = sum(outcome[2] for outcome, _ in shared)
        seconds = sum(outcome[1] for outcome, _ in shared) / len(shared)
        cells = [
            f"{len(shared)}",
            f"{above.count(0)}",
            f"{sum(above) / len(above):.3f}",
            f"{max(above)}",
            f"{proven}" if proven else "-",
            "-" if name.startswith("CPLEX") else f"{seconds:.2f}",
        ]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows


if __name__ == "__main__":
    main()
