"""Measure ``envfold count`` against extracting the dataset and calling Harbor's own hash.

Usage: ``python measure.py FOLDER [--harbor PYTHON] [--runs 3]``. FOLDER gets, or has, ``1k.parquet``,
``10k.parquet`` and ``100k.parquet`` from ``make_dataset.py``. Every run is written to ``results.json``
beside this script at once; ``--table`` prints what is there and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
COMPARED = "10k"

EXTRACT = """
import io, sys, tarfile, pathlib
import pyarrow.parquet as pq
out = pathlib.Path(sys.argv[2])
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(64):
    for name, data in zip(batch["path"].to_pylist(), batch["task_binary"].to_pylist()):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(out / name.removesuffix(".tar.gz"), filter="data")
"""

HASH = """
import pathlib, sys
from harbor.environments.definition import SNAPSHOT_HASH_LEN, environment_content_hash
tasks = pathlib.Path(sys.argv[1]).iterdir()
print(len({environment_content_hash(t / "environment", truncate=SNAPSHOT_HASH_LEN) for t in tasks}))
"""


def forbid_files() -> None:
    """Make the kernel refuse every byte written to a regular file (getrlimit(2), RLIMIT_FSIZE)."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run(command: list[str], *, may_write: bool) -> dict[str, Any]:
    """Run one process and return its wall and CPU seconds, peak memory and output."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=None if may_write else forbid_files,  # noqa: PLW1509 - there are no threads here
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(usage.ru_maxrss / 1024, 1),
        "output": output.decode(),
    }


def count(path: Path) -> dict[str, Any]:
    """Count with envfold, in a process that may not write to any file and whose temporary folder is seen."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TMPDIR"] = scratch
        before = sorted(path.parent.iterdir())
        done = run([sys.executable, "-m", "partition", "count", str(path), "--json"], may_write=False)
        made = [each.name for each in Path(scratch).iterdir()]
        made += sorted({*path.parent.iterdir()} - {*before})
        del os.environ["TMPDIR"]
    answer = json.loads(done.pop("output"))
    return {"what": "envfold count", "snapshots": answer["snapshots"], "files_made": len(made), **done}


def extract_and_hash(path: Path, harbor: str) -> dict[str, Any]:
    """Extract every task to disk, then hash every environment with Harbor; removing is not timed."""
    folder = path.parent / "extracted"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        extracted = run([sys.executable, "-c", EXTRACT, str(path), str(folder)], may_write=True)
        hashed = run([harbor, "-c", HASH, str(folder)], may_write=True)
        made = sum(len(folders) + len(files) for _, folders, files in os.walk(folder))
    finally:
        shutil.rmtree(folder)
    both = {key: round(extracted[key] + hashed[key], 3) for key in ("seconds", "cpu_seconds")}
    return {
        "what": "extract and Harbor's hash",
        "snapshots": int(hashed["output"]),
        "files_made": made,
        **both,
        "peak_mb": max(extracted["peak_mb"], hashed["peak_mb"]),
        "extract_seconds": extracted["seconds"],
        "hash_seconds": hashed["seconds"],
    }


def record(results: list[dict[str, Any]], size: str, measured: dict[str, Any]) -> None:
    results.append({"dataset": size, "tasks": SIZES[size], **measured})
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results[-1]), flush=True)


def table(results: list[dict[str, Any]]) -> str:
    """Return medians as a Markdown table, and the ratios the study is about."""
    lines = [
        "| what | tasks | runs | seconds | CPU seconds | peak MB | files made | snapshots |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    median: dict[tuple[str, str], dict[str, float]] = {}
    for what, size in dict.fromkeys((each["what"], each["dataset"]) for each in results):
        runs = [each for each in results if (each["what"], each["dataset"]) == (what, size)]
        keys = ("seconds", "cpu_seconds", "peak_mb", "files_made", "snapshots")
        of = median[what, size] = {key: statistics.median(each[key] for each in runs) for key in keys}
        times = f"{of['seconds']:.1f} | {of['cpu_seconds']:.1f} | {of['peak_mb']:.0f}"
        lines.append(
            f"| {what} | {SIZES[size]:,} | {len(runs)} | {times} | {of['files_made']:,.0f}"
            f" | {of['snapshots']:,.0f} |"
        )
    ours = median.get(("envfold count", COMPARED))
    theirs = median.get(("extract and Harbor's hash", COMPARED))
    if ours and theirs:
        faster = theirs["seconds"] / ours["seconds"]
        by_cpu = theirs["cpu_seconds"] / ours["cpu_seconds"]
        lines.append(
            f"\nAt {SIZES[COMPARED]:,} tasks `count` is {faster:.1f} times as fast"
            f" ({by_cpu:.1f} times by CPU time)."
        )
    largest = median.get(("envfold count", "100k"))
    if ours and largest:
        lines.append(
            f"Ten times the tasks take {largest['seconds'] / ours['seconds']:.1f} times as long"
            f" and {largest['peak_mb'] / ours['peak_mb']:.1f} times the memory."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument(
        "--harbor", default=os.environ.get("ENVFOLD_HARBOR"), help="a Python with Harbor 0.26"
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if arguments.table:
        print(table(results))
        return
    harbor = arguments.harbor or str(ROOT / ".venv-harbor-0.26.0" / "bin" / "python")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for size, tasks in SIZES.items():
        path = arguments.folder.resolve() / f"{size}.parquet"
        if not path.exists():
            make = [sys.executable, str(HERE / "make_dataset.py"), str(path), "--tasks", str(tasks)]
            subprocess.run(make, check=True)
        done = sum(each["dataset"] == size and each["what"] == "envfold count" for each in results)
        for _ in range(done, arguments.runs):
            if size == COMPARED:
                record(results, size, extract_and_hash(path, harbor))
            record(results, size, count(path))
    print(table(results))


if __name__ == "__main__":
    main()
