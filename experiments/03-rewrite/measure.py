"""Measure ``envfold rewrite``, parquet to parquet, on made-up tasks of realistic sizes.

Usage: ``python measure.py FOLDER [--sizes 1k 10k] [--runs 3]``. FOLDER gets, or has, ``1k.parquet`` and so
on, made by ``../00-count/make_dataset.py`` (about 60 kB and 17 files a task, four bases, half of the tasks
clone a repository), and a plan with 8 environments for each. Every run is written to ``results.json`` beside
this script at once; ``--table`` prints what is there and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
MAKE = HERE.parent / "00-count" / "make_dataset.py"
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
ENVIRONMENTS = 8


def tree(process: int) -> list[int]:
    """Return a process and its children, as they are now."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(each for child in children for each in tree(int(child)))]


def peak_mb(process: int) -> float:
    """Return the most memory that a process has had so far (VmHWM, proc(5))."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def rewrite(source: Path, plan: Path) -> dict[str, Any]:
    """Rewrite once; return seconds, processor seconds, and the peak memory of the process and of a worker."""
    out = source.with_name("out.parquet")
    for old in source.parent.glob("out.*"):
        old.unlink()
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "partition", "rewrite", str(plan), str(source), str(out), "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    peaks: dict[int, float] = {}
    while process.poll() is None:
        for each in tree(process.pid):
            peaks[each] = max(peaks.get(each, 0.0), peak_mb(each))
        time.sleep(0.1)
    assert process.stdout is not None
    answer = json.loads(process.stdout.read())
    usage = os.times()
    workers = [peak for each, peak in peaks.items() if each != process.pid]
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(usage.children_user + usage.children_system, 3),
        "peak_mb": round(peaks.get(process.pid, 0.0), 1),
        "workers_peak_mb": round(max(workers, default=0.0), 1),
        "load": round(os.getloadavg()[0], 1),
        "before": answer["before"]["snapshots"],
        "after": answer["after"]["snapshots"],
        "folded": answer["folded"],
    }


def table(results: list[dict[str, Any]]) -> str:
    """Return medians as a Markdown table."""
    head = (
        "| tasks | runs | seconds | CPU seconds | tasks/s | tasks/CPU s | peak MB | of a worker | snapshots "
        "| load |"
    )
    lines = [head, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for size in dict.fromkeys(each["dataset"] for each in results):
        runs = [each for each in results if each["dataset"] == size]
        of = {key: statistics.median(each[key] for each in runs) for key in runs[0] if key != "dataset"}
        tasks = SIZES[size]
        lines.append(
            f"| {tasks:,} | {len(runs)} | {of['seconds']:.1f} | {of['cpu_seconds']:.1f} "
            f"| {tasks / of['seconds']:.0f} | {tasks / of['cpu_seconds']:.0f} | {of['peak_mb']:.0f} "
            f"| {of['workers_peak_mb']:.0f} | {of['before']:,.0f} → {of['after']:.0f} | {of['load']:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["1k", "10k"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if arguments.table:
        print(table(results))
        return
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for size in arguments.sizes:
        source, plan = folder / f"{size}.parquet", folder / f"{size}.plan.json"
        if not source.exists():
            make = [sys.executable, str(MAKE), str(source), "--tasks", str(SIZES[size])]
            subprocess.run(make, check=True)
        if not plan.exists():
            propose = [sys.executable, "-m", "partition", "propose", str(source), "--out", str(plan)]
            subprocess.run(
                [*propose, "--cap", str(ENVIRONMENTS)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
            )
        done = sum(each["dataset"] == size for each in results)
        for _ in range(done, arguments.runs):
            before = os.times()
            measured = rewrite(source, plan)
            spent = before.children_user + before.children_system
            measured["cpu_seconds"] = round(measured["cpu_seconds"] - spent, 3)
            results.append({"dataset": size, **measured})
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            print(json.dumps(results[-1]), flush=True)
    print(table(results))


if __name__ == "__main__":
    main()
