"""Lock 200 specs of SWE-bench and SWE-Gym, cold and warm: ``python locks.py FACTS CACHE``.

A fresh CACHE measures cold, the same one again warm. Every answer is one line of ``results/locks.jsonl`` at
once; an interrupted run goes on with the same CACHE, and says so (``resumed``).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import time
from collections import Counter
from pathlib import Path

from partition.features.model import TaskFeatures
from partition.venvs.lock import Lock, lock_all
from partition.venvs.platforms import platform_of
from partition.venvs.resolver import uv_version
from partition.venvs.spec import VenvSpec, spec_of

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "data"
RESULTS = HERE / "results" / "locks.jsonl"
SPECS = 200


def dates() -> dict[tuple[str, str], list[str]]:
    """Return the dates of the tasks of each (repository, version), latest first, where tables have dates."""
    found: dict[tuple[str, str], set[str]] = {}
    for table in sorted(DATA.glob("swebench/*.csv")):
        with table.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["created_at"]:
                    found.setdefault((row["repo"], row["version"]), set()).add(row["created_at"])
    return {key: sorted(each, reverse=True) for key, each in found.items()}


def specs(facts: Path) -> list[VenvSpec]:
    """Return distinct specs that name an interpreter and anything to install.

    First each (repository, version) as of its latest task, then, until there are enough, as of others.
    """
    known = dates()
    rows = []
    for line in (facts / "specs.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        wanted = [*row["pip"], *row.get("install_pip_literals", ())]
        if row["dataset"] in {"swegym", "swebench"} and row["language"] == "py" and wanted:
            rows.append((row, tuple(sorted({*wanted}))))
    found: dict[VenvSpec, None] = {}
    for rank in range(100):
        for row, wanted in rows:
            days = known.get((row["repo"], row["version"]), [""])
            features = TaskFeatures(
                task=f"{row['repo']}@{row['version']}",
                python=row.get("python"),
                pip=wanted,
                conda=tuple(sorted(each for each in row["conda_packages"] if not each.startswith("@"))),
                created_at=days[rank] if rank < len(days) else None,
            )
            spec = spec_of(features).spec if rank < len(days) else None
            if spec is not None and len(found) < SPECS:
                found[spec] = None
    return list(found)


def recorded() -> set[str]:
    """Return the specs that have a line; one that a crash cut off does not count."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    return {json.loads(line).get("spec", "") for line in lines if line.endswith("}")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--given", action="append", default=[])
    parser.add_argument("--offline", action="store_true")
    options = parser.parse_args()
    given = {version: Path(path) for version, _, path in (each.partition("=") for each in options.given)}
    kept = options.cache / "locks"
    before = sum(1 for _ in kept.rglob("*.json")) if kept.exists() else 0
    asked = specs(options.facts)
    seen = recorded()
    outcomes: Counter[str] = Counter()
    start = time.monotonic()
    with RESULTS.open("a", encoding="utf-8") as stream:
        run = {"run": "start", "specs": len(asked), "kept": before, "uv": uv_version()}
        run |= {"machine": f"{os.cpu_count()} cores, {platform.machine()}", "load": os.getloadavg()[0]}
        print(json.dumps(run), file=stream, flush=True)
        bookworm = platform_of("debian", "bookworm")
        answers = lock_all(
            asked, cache=options.cache, platform=bookworm, given=given, offline=options.offline
        )
        for spec, answer in answers:
            line = {
                "spec": spec.key[:16],
                "python": spec.python,
                "as_of": str(spec.as_of),
                "asked": len(spec.requirements),
            }
            if isinstance(answer, Lock):
                outcomes["locked"] += 1
                sources = [each.name for each in answer.source_only]
                line |= {"packages": len(answer.packages), "source_only": sources, "apt": answer.apt}
            else:
                outcomes[answer.kind] += 1
                line |= {"kind": answer.kind, "reason": answer.reason}
            line["seconds"] = round(time.monotonic() - start, 2)
            if not before or line["spec"] not in seen:
                print(json.dumps(line), file=stream, flush=True)
        run = {"run": "end", "seconds": round(time.monotonic() - start, 2), "outcomes": dict(outcomes)}
        run["resumed"] = 0 < before < sum(1 for _ in kept.rglob("*.json"))
        print(json.dumps(run | {"load": os.getloadavg()[0]}), file=stream, flush=True)
    print(json.dumps(run))


if __name__ == "__main__":
    main()
