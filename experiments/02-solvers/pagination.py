"""The pagination instances of Grange, Kacem & Martin: envfold's composition solver beside what is on record.

    python experiments/02-solvers/pagination.py --which proven
    python experiments/02-solvers/pagination.py --which open --work 60

Each instance runs in a process of its own; its line is appended to ``results/pagination.jsonl`` at once.
Started again, the script makes only the runs that are not there yet (same version, instance and limit).
``--table`` prints what is there and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pmed import read

HERE = Path(__file__).parent
BENCH = HERE.parents[1].parent / "shared" / "bench" / "pagination" / "gauss"
RESULTS = HERE / "results" / "pagination.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--which", choices=("proven", "open"), default="proven", help="by CPLEX, in an hour")
    parser.add_argument("--work", type=float, default=60.0, help="units of counted work an instance")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "RECORD"), help="for the script itself")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one[0], int(given.one[1]), given.work)))
        return
    if given.table:
        print("\n".join(table(read(RESULTS))))
        return
    there = {(line["file"], line["record"], line["work"], line["version"]) for line in read(RESULTS)}
    for name, record, known in instances():
        if (known["proven"] is None) == (given.which == "proven"):
            continue
        if (name, record, given.work, version("envfold")) in there:
            continue
        command = [sys.executable, __file__, "--work", str(given.work), "--one", name, str(record)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        with RESULTS.open("a", encoding="utf-8") as stream:
            stream.write(ended.stdout.splitlines()[-1] + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        print(ended.stdout.splitlines()[-1])


def instances() -> list[tuple[str, int, dict[str, Any]]]:
    """Return (file, record, what is on record) of every instance, in order."""
    found = []
    for path in sorted(BENCH.glob("*.json")):
        for number, record in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            pages = [record.get("cplexOpt"), record.get("cplexUB"), record["pageCount"]]
            best = min(count for count in (*pages, *record["solvers"].values()) if count is not None)
            known = {"proven": record.get("cplexOpt"), "best": best, "lower": record.get("cplexLB")}
            found.append((path.name, number, known))
    return found


def run(name: str, number: int, work: float) -> dict[str, Any]:
    """Return the line of one run: from the instance in memory to the checked answer."""
    from solvers.composition.compose import compose  # noqa: PLC0415 - its import is not the run's
    from solvers.composition.pagination import read_pagination  # noqa: PLC0415
    from solvers.result import Limits  # noqa: PLC0415

    instance = read_pagination((BENCH / name).read_text(encoding="utf-8"))[number]
    known = next(known for file, record, known in instances() if (file, record) == (name, number))
    started = time.perf_counter()
    result = compose(instance, Limits(deterministic_time=work))
    return {
        "file": name,
        "record": number,
        "work": work,
        "version": version("envfold"),
        "ortools": version("ortools"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "cplex_optimum": known["proven"],
        "best_known": known["best"],
        "cplex_bound": known["lower"],
        "pages": int(result.objective),
        "bound": int(result.bound),
        "status": result.status.value,
        "method": result.method,
        "seconds": round(time.perf_counter() - started, 3),
    }


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Return the runs counted by kind, as Markdown, and each answer below the best known."""
    rows = [
        "| instances | run | proven | equal to best known | better | worse | slowest s |",
        "|---|" + "--:|" * 6,
    ]
    for kind, proven in (("proven by CPLEX", True), ("open", False)):
        here = [line for line in lines if (line["cplex_optimum"] is not None) == proven]
        counts = [
            len(here),
            sum(line["status"] == "OPTIMAL" for line in here),
            sum(line["pages"] == line["best_known"] for line in here),
            sum(line["pages"] < line["best_known"] for line in here),
            sum(line["pages"] > line["best_known"] for line in here),
            max((line["seconds"] for line in here), default=0),
        ]
        rows.append(f"| {kind} | " + " | ".join(map(str, counts)) + " |")
    for line in lines:
        if line["pages"] < line["best_known"]:
            proof = "proven" if line["status"] == "OPTIMAL" else f"bound {line['bound']}"
            rows.append(
                f"\n{line['file']} [{line['record']}]: {line['pages']}, was {line['best_known']}; {proof}"
            )
    return rows


if __name__ == "__main__":
    main()
