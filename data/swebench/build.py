"""Make verified.csv, lite.csv and full.csv: ``python -m data.swebench.build FACTS_DIR``."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from data.facts import (
    Facts,
    FactsError,
    Row,
    expect,
    outcomes_by_task,
    read_lines,
    render,
    sorted_set,
    spec_columns,
    specs_of,
    with_unlisted,
)
from partition.writing import write_atomically

SETTINGS = {
    ("swebench_lite(+dev)", "aorwall-SWE-bench-docker"): "aorwall",
    ("swebench_full", "swt-bench"): "swt-bench-1",
    ("swebench_lite", "swt-bench"): "swt-bench-5",
    ("swebench_verified", "swt-bench"): "swt-bench-5",
    ("swebench_verified", "sb-cli#15"): "sb-cli-2025-08",
    ("swebench_verified", "sb-cli#20"): "sb-cli-2025-11",
}

OUTCOMES = {
    "resolved": "pass",
    "unresolved": "fail",
    "always_unresolved": "fail",
    "flaky": "flaky",
    "filtered_out": "unverified",
}

PYTHON_RUNTIME = frozenset(
    (
        "_libgcc_mutex",
        "_openmp_mutex",
        "bzip2",
        "ca-certificates",
        "expat",
        "ld_impl_linux-64",
        "libexpat",
        "libffi",
        "libgcc",
        "libgcc-ng",
        "libgomp",
        "liblzma",
        "libmpdec",
        "libnsl",
        "libsqlite",
        "libstdcxx",
        "libstdcxx-ng",
        "libuuid",
        "libxcrypt",
        "libzlib",
        "ncurses",
        "openssl",
        "pip",
        "python",
        "python_abi",
        "readline",
        "sqlite",
        "tk",
        "tzdata",
        "wheel",
        "xz",
        "zlib",
    )
)
"""What a conda environment holds that asks for ``python`` alone, setuptools and certifi apart."""

# The totals that the sources publish; see README.md.
_TASKS = {"verified.csv": 500, "lite.csv": 300, "full.csv": 2294}
_VERSIONS = {"verified.csv": 80, "lite.csv": 64}
_FULL_WITH_VERSION = 801
_RESOLVED_PYTHONS = {"3.9": 241, "3.6": 140, "3.8": 42, "3.11": 52, "3.10": 22, "3.5": 2, "3.7": 1}


def build(facts: Path) -> dict[str, bytes]:
    """Return the tables by their file names.

    Raises
    ------
    FactsError
        A task with a version has no spec, or a total differs from the published one.
    """
    specs = specs_of(facts, "swebench")
    verified = read_lines(facts / "instances_swebench_verified.jsonl")
    lite = read_lines(facts / "instances_swebench_lite.jsonl")
    partial = read_lines(facts / "instances_swebench_full_partial.jsonl")
    named = outcomes_by_task(read_lines(facts / "gold_outcomes.jsonl"), SETTINGS, OUTCOMES)
    outcomes = with_unlisted(
        named,
        {
            "swt-bench-1": _ids(partial),
            "swt-bench-5": _ids(lite) | _ids(verified),
            "sb-cli-2025-08": _ids(verified),
            "sb-cli-2025-11": _ids(verified),
        },
    )
    dated = {task["instance_id"]: task for task in [*verified, *lite]}
    full = [dated.get(task["instance_id"], {}) | task for task in partial]
    resolved = {line["instance_id"]: line for line in read_lines(facts / "verified_resolved_envs.jsonl")}
    tables = {
        "verified.csv": [_row(task, specs, outcomes, resolved[task["instance_id"]]) for task in verified],
        "lite.csv": [_row(task, specs, outcomes) for task in lite],
        "full.csv": [_row(task, specs, outcomes) for task in full],
    }
    _check(tables)
    return {name: render(rows) for name, rows in tables.items()}


def _ids(tasks: list[Facts]) -> set[str]:
    return {task["instance_id"] for task in tasks}


def _row(
    task: Facts,
    specs: dict[tuple[str, str], Facts],
    outcomes: dict[str, tuple[str, ...]],
    resolved: Facts | None = None,
) -> Row:
    columns: dict[str, Any] = {}
    if task["version"] is not None:
        spec = specs.get((task["repo"].lower(), task["version"]))
        if spec is None:
            raise FactsError(f"{task['instance_id']}: no spec for {task['repo']} {task['version']}")
        columns = spec_columns(spec)
    if resolved is not None:
        columns |= _resolved_columns(resolved)
    return Row(
        task_id=task["instance_id"],
        repo=task["repo"],
        version=task["version"] or "",
        base_commit=task.get("base_commit") or "",
        created_at=(task.get("created_at") or "").partition("T")[0],
        outcomes=outcomes.get(task["instance_id"], ()),
        **columns,
    )


def _resolved_columns(resolved: Facts) -> dict[str, Any]:
    """Return the columns that an exported conda environment decides, its build strings dropped."""
    packages = [line.split("=") for line in resolved["conda"]]
    return {
        "python": ".".join(resolved["python"].split(".")[:2]),
        "pip": sorted_set(resolved["pip"]),
        "conda": sorted_set(
            f"{name}={version}" for name, version, _ in packages if name not in PYTHON_RUNTIME
        ),
        "requirement_files": (),
    }


def _check(tables: dict[str, list[Row]]) -> None:
    expect("tasks", {name: len({row.task_id for row in rows}) for name, rows in tables.items()}, _TASKS)
    for name, versions in _VERSIONS.items():
        expect(
            f"(repository, version) pairs of {name}",
            len({(row.repo, row.version) for row in tables[name]}),
            versions,
        )
    expect("full with a version", sum(bool(row.version) for row in tables["full.csv"]), _FULL_WITH_VERSION)
    expect("pythons", dict(Counter(row.python for row in tables["verified.csv"])), _RESOLVED_PYTHONS)
    ids = {name: {row.task_id for row in rows} for name, rows in tables.items()}
    for name in ("verified.csv", "lite.csv"):
        expect(f"tasks of {name} that the full table lacks", sorted(ids[name] - ids["full.csv"]), [])


def main() -> None:
    """Write the tables beside this script."""
    for name, table in build(Path(sys.argv[1])).items():
        write_atomically(Path(__file__).with_name(name), table)
        print(f"{name}: {len(table)} bytes")


if __name__ == "__main__":
    main()
