"""The pagination instances of Grange, Kacem & Martin: envfold's composition solver beside what is on record.

    python experiments/02-solvers/pagination.py --which proven
    python experiments/02-solvers/pagination.py --which open --work 60 --shard 1/2

Each instance runs in a process of its own; its line is appended to ``results/pagination.jsonl`` at once.
Started again, the script makes only the runs that are not there yet (same code, instance and limit), first
those of instances that no code has been run on. Shards may run beside each other. ``--table`` prints what is
there and runs nothing; of several runs of an instance the last counts.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from importlib.metadata import version
from typing import Any

from pagination_peers import BENCH, comparison
from records import HERE, append, code, machine, read

RESULTS = HERE / "results" / "pagination.jsonl"
WORK = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--which", choices=("proven", "open", "all"), default="proven", help="by CPLEX, in an hour"
    )
    parser.add_argument("--work", type=float, default=WORK, help="units of counted work an instance")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "RECORD"), help="for the script itself")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one[0], int(given.one[1]), given.work)))
        return
    if given.table:
        print("\n".join(table(read(RESULTS))))
        return
    for name, record in waiting(given.which, given.shard, given.work):
        line = in_a_process(name, record, given.work)
        append(RESULTS, line)
        print(json.dumps(line), flush=True)


def shard(text: str) -> tuple[int, int]:
    """Return I and N of ``I/N``."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with 1 <= I <= N")
    return int(match[1]), int(match[2])


def waiting(which: str, part: tuple[int, int], work: float) -> list[tuple[str, int]]:
    """Return what this code has not been run on, what no code has been run on first."""
    wanted = [
        (name, record)
        for name, record, known in instances()
        if which == "all" or (known["proven"] is not None) == (which == "proven")
    ][part[0] - 1 :: part[1]]
    own = code("composition")
    lines = [line for line in read(RESULTS) if line["work"] == work]
    ran = {(line["file"], line["record"]) for line in lines}
    there = {(line["file"], line["record"]) for line in lines if line.get("code") == own}
    return sorted((key for key in wanted if key not in there), key=lambda key: key in ran)


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


def in_a_process(name: str, number: int, work: float) -> dict[str, Any]:
    """Return the line of a run in a fresh process; a crash or an overrun is a line too."""
    command = [sys.executable, __file__, "--work", str(work), "--one", name, str(number)]
    started = time.perf_counter()
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=10 * work + 300, check=False)
        if ended.returncode == 0:
            return dict(json.loads(ended.stdout.splitlines()[-1]))
        why = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
    except subprocess.TimeoutExpired:
        why = "killed: far over its time limit"
    known = next(known for file, record, known in instances() if (file, record) == (name, number))
    line = heading(name, number, work, known)
    return {**line, "status": "FAILED", "why": why, "seconds": round(time.perf_counter() - started, 3)}


def heading(name: str, number: int, work: float, known: dict[str, Any]) -> dict[str, Any]:
    return {
        "file": name,
        "record": number,
        "work": work,
        "version": version("envfold"),
        "code": code("composition"),
        "ortools": version("ortools"),
        "machine": machine(),
        "cplex_optimum": known["proven"],
        "best_known": known["best"],
        "cplex_bound": known["lower"],
    }


def run(name: str, number: int, work: float) -> dict[str, Any]:
    """Return the line of one run: from the instance in memory to the checked answer."""
    from solvers.composition.compose import compose  # noqa: PLC0415 - its import is not the run's
    from solvers.composition.pagination import read_pagination  # noqa: PLC0415
    from solvers.result import Limits  # noqa: PLC0415

    instance = read_pagination((BENCH / name).read_text(encoding="utf-8"))[number]
    known = next(known for file, record, known in instances() if (file, record) == (name, number))
    line = heading(name, number, work, known)
    started, used = time.perf_counter(), time.process_time()
    result = compose(instance, Limits(deterministic_time=work))
    return {
        **line,
        "pages": int(result.objective),
        "bound": int(result.bound),
        "status": result.status.value,
        "method": result.method,
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_seconds": round(time.process_time() - used, 3),
    }


def newest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last of the longest runs of each instance, in the order of the files."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for line in lines:
        key = (line["file"], line["record"])
        if key not in found or line["work"] >= found[key]["work"]:
            found[key] = line
    return [found[key] for key in sorted(found)]


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Return the runs counted by kind, as Markdown, each answer below the best known, and the peers."""
    lines = newest(lines)
    answered = [line for line in lines if line["status"] != "FAILED"]
    rows = [
        "| instances | run | proven | equal to best known | better | worse | failed | slowest, processor s |",
        "|---|" + "--:|" * 7,
    ]
    for kind, proven in (("proven by CPLEX", True), ("open", False)):
        run_ = [line for line in lines if (line["cplex_optimum"] is not None) == proven]
        here = [line for line in answered if (line["cplex_optimum"] is not None) == proven]
        counts = [
            len(run_),
            sum(line["status"] == "OPTIMAL" for line in here),
            sum(line["pages"] == line["best_known"] for line in here),
            sum(line["pages"] < line["best_known"] for line in here),
            sum(line["pages"] > line["best_known"] for line in here),
            len(run_) - len(here),
            max((round(line.get("cpu_seconds", line["seconds"]), 1) for line in here), default=0),
        ]
        rows.append(f"| {kind} | " + " | ".join(map(str, counts)) + " |")
    rows += [*comparison(answered), "", "Answers below the best known:", ""]
    for line in answered:
        if line["pages"] < line["best_known"]:
            proof = "proven" if line["status"] == "OPTIMAL" else f"bound {line['bound']}"
            rows.append(
                f"* {line['file']} [{line['record']}]: {line['pages']}, was {line['best_known']}; {proof}"
            )
    closed = [
        f"{line['file']} [{line['record']}] {line['pages']}"
        for line in answered
        if line["cplex_optimum"] is None
        and line["status"] == "OPTIMAL"
        and line["pages"] == line["best_known"]
    ]
    rows += ["", f"The best known was not known to be optimal and is proven to be: {', '.join(closed)}."]
    worse = [line for line in answered if line["pages"] > line["best_known"]]
    rows += ["", "Answers above the best known:", ""] if worse else []
    rows += [
        f"* {line['file']} [{line['record']}]: {line['pages']}, known {line['best_known']}" for line in worse
    ]
    return rows


if __name__ == "__main__":
    main()
