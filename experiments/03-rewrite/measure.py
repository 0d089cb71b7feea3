"""Measure ``envfold rewrite``, parquet to parquet, on made-up tasks of realistic sizes, beside a floor.

Usage: ``python measure.py FOLDER [--sizes 1000 3000 10000] [--runs 3]``. FOLDER gets, or has,
``1000.parquet`` and so on, made by ``../00-count/make_dataset.py`` (about 60 kB and 17 files a task, four
bases, half of the tasks clone a repository), and a plan with 8 environments for each. Each run is the whole
command, followed by ``floor.py`` on the same tasks, and is written to ``results.json`` beside this script at
once; ``--table`` prints what is there and runs nothing.
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
ENVIRONMENTS = 8


def measured(command: list[str], out: Path) -> dict[str, float]:
    """Run a command; return its seconds, its processor seconds and the most memory of one process, in MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=out.open("wb"), stderr=subprocess.DEVNULL)
    # of the process and of all that it has waited for: getrusage(2)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(usage.ru_maxrss / 1024, 1),
    }


def once(source: Path, plan: Path) -> dict[str, Any]:
    """Rewrite once, and unpack and pack once."""
    out, answer = source.with_name("out.parquet"), source.with_name("answer.json")
    for old in source.parent.glob("out.*"):
        old.unlink()
    rewrite = [sys.executable, "-m", "partition", "rewrite", str(plan), str(source), str(out), "--json"]
    ours = measured(rewrite, answer)
    said = json.loads(answer.read_text())
    floor = measured([sys.executable, str(HERE / "floor.py"), str(source), str(out)], answer)
    return {
        **ours,
        "load": round(os.getloadavg()[0], 1),
        "before": said["before"]["snapshots"],
        "after": said["after"]["snapshots"],
        "folded": said["folded"],
        "floor": floor,
    }


def table(results: list[dict[str, Any]]) -> str:
    """Return medians as a Markdown table."""
    lines = [
        "| tasks | runs | tasks/s | CPU s per 1,000 | of the floor | ratio | peak MB | snapshots | load |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for tasks in sorted({each["tasks"] for each in results}):
        runs = [each for each in results if each["tasks"] == tasks]
        of = {key: statistics.median(each[key] for each in runs) for key in runs[0] if key != "floor"}
        ours = of["cpu_seconds"] / tasks * 1000
        floor = statistics.median(each["floor"]["cpu_seconds"] for each in runs) / tasks * 1000
        lines.append(
            f"| {tasks:,} | {len(runs)} | {tasks / of['seconds']:.0f} | {ours:.2f} | {floor:.2f} "
            f"| {ours / floor:.1f} | {of['peak_mb']:.0f} | {of['before']:,.0f} → {of['after']:.0f} "
            f"| {of['load']:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if arguments.table:
        print(table(results))
        return
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for tasks in arguments.sizes:
        source, plan = folder / f"{tasks}.parquet", folder / f"{tasks}.plan.json"
        if not source.exists():
            subprocess.run([sys.executable, str(MAKE), str(source), "--tasks", str(tasks)], check=True)
        if not plan.exists():
            propose = [sys.executable, "-m", "partition", "propose", str(source), "--out", str(plan)]
            subprocess.run(
                [*propose, "--cap", str(ENVIRONMENTS)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
            )
        for _ in range(sum(each["tasks"] == tasks for each in results), arguments.runs):
            results.append({"tasks": tasks, **once(source, plan)})
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            print(json.dumps(results[-1]), flush=True)
    print(table(results))


if __name__ == "__main__":
    main()
