"""Make tasks.csv from the facts tables: ``python -m data.swegym.build FACTS_DIR``."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from data.facts import (
    FactsError,
    Row,
    expect,
    outcomes_by_task,
    read_lines,
    render,
    spec_columns,
    specs_of,
)
from partition.writing import write_atomically

SETTINGS = {
    ("swegym", "OpenHands"): "openhands",
    ("swegym", "env-swe-gym"): "env-swe-gym",
    ("swegym", "harbor-swegym-README"): "harbor",
}

OUTCOMES = {
    "verified": "pass",
    "not_in_verified_list": "unverified",
    "fail": "fail",
    "patch_does_not_apply": "fail",
    "pass_only_with_network": "network",
    "flaky": "flaky",
    "missing_image": "missing",
    "error_missing_image": "missing",
    "not_listed_as_failing": "unlisted",
}

# The totals that the sources publish; see README.md.
_TASKS = 2438
_REPOSITORIES = {
    "pandas-dev/pandas": 737,
    "Project-MONAI/MONAI": 374,
    "getmoto/moto": 343,
    "python/mypy": 257,
    "iterative/dvc": 225,
    "dask/dask": 145,
    "modin-project/modin": 107,
    "pydantic/pydantic": 83,
    "conan-io/conan": 75,
    "facebookresearch/hydra": 66,
    "bokeh/bokeh": 26,
}
_OUTCOMES = {
    "openhands=pass": 2119,
    "openhands=unverified": 319,
    "env-swe-gym=fail": 230,
    "env-swe-gym=network": 56,
    "env-swe-gym=flaky": 4,
    "env-swe-gym=missing": 36,
    "env-swe-gym=unlisted": 2112,
    "harbor=missing": 38,
}
_VERSIONS = 200


def build(facts: Path) -> dict[str, bytes]:
    """Return the table by its file name.

    Raises
    ------
    FactsError
        A task has no spec, an outcome no task, or a total differs from the published one.
    """
    tasks = read_lines(facts / "instances_swegym.jsonl")
    specs = specs_of(facts, "swegym")
    outcomes = outcomes_by_task(read_lines(facts / "gold_outcomes.jsonl"), SETTINGS, OUTCOMES)
    rows = []
    for task in tasks:
        spec = specs.get((task["repo"].lower(), task["version"]))
        if spec is None:
            raise FactsError(f"{task['instance_id']}: no spec for {task['repo']} {task['version']}")
        rows.append(
            Row(
                task_id=task["instance_id"],
                repo=task["repo"],
                version=task["version"],
                base_commit=task.get("base_commit") or "",
                outcomes=outcomes.get(task["instance_id"], ()),
                **spec_columns(spec),
            )
        )
    expect("outcomes of unknown tasks", sorted(outcomes.keys() - {row.task_id for row in rows}), [])
    expect("tasks", len({row.task_id for row in rows}), _TASKS)
    expect("tasks by repository", dict(Counter(row.repo for row in rows)), _REPOSITORIES)
    expect("(repository, version) pairs", len({(row.repo, row.version) for row in rows}), _VERSIONS)
    expect("outcomes", dict(Counter(pair for row in rows for pair in row.outcomes)), _OUTCOMES)
    return {"tasks.csv": render(rows)}


def main() -> None:
    """Write the table beside this script."""
    for name, table in build(Path(sys.argv[1])).items():
        write_atomically(Path(__file__).with_name(name), table)
        print(f"{name}: {len(table)} bytes")


if __name__ == "__main__":
    main()
