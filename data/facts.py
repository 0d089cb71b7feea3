"""What the build scripts of the tables share: reading facts, and writing a spec table."""

from __future__ import annotations

import csv
import io
import itertools
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Facts = dict[str, Any]
"""One line of a facts file."""


class FactsError(Exception):
    """The facts contradict themselves or the totals published for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task of a spec table; the fields are the table's columns, in their order."""

    task_id: str
    repo: str
    version: str = ""
    base_commit: str = ""
    python: str = ""
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    created_at: str = ""
    outcomes: tuple[str, ...] = ()


COLUMNS = tuple(column.name for column in fields(Row))


def read_lines(path: Path) -> list[Facts]:
    """Return the objects of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def render(rows: Iterable[Row]) -> bytes:
    """Return the CSV table of `rows`, sorted by task id; equal rows give equal bytes.

    Raises
    ------
    FactsError
        Two rows have one id.
    """
    ordered = sorted(rows, key=lambda row: row.task_id)
    for left, right in itertools.pairwise(ordered):
        if left.task_id == right.task_id:
            raise FactsError(f"{left.task_id} is there twice")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(row, column)) for column in COLUMNS] for row in ordered)
    return stream.getvalue().encode()


def _cell(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def specs_of(facts: Path, dataset: str) -> dict[tuple[str, str], Facts]:
    """Return the Python specs of `dataset` by (repository in lower case, version)."""
    return {
        (spec["repo"].lower(), spec["version"]): spec
        for spec in read_lines(facts / "specs.jsonl")
        if spec["dataset"] == dataset and spec["language"] == "py"
    }


def spec_columns(spec: Facts) -> dict[str, Any]:
    """Return the columns that a spec decides: python, apt, pip, conda and requirement_files.

    ``@environment.yml`` and ``@requirements.txt`` among the conda packages mean that the packages are named
    by the first file of a list that exists in the repository; the list becomes the requirement files.
    """
    conda = spec["conda_packages"]
    files = [
        *spec["install_req_files"],
        *(spec["env_yml_paths"] if "@environment.yml" in conda else ()),
        *(spec["reqs_paths"] if "@requirements.txt" in conda else ()),
    ]
    return {
        "python": spec.get("python") or "",
        "apt": sorted_set(spec["apt"]),
        "pip": sorted_set([*spec["pip"], *spec["install_pip_literals"]]),
        "conda": sorted_set(name for name in conda if not name.startswith("@")),
        "requirement_files": sorted_set(files),
    }


def outcomes_by_task(
    lines: Iterable[Facts], settings: Mapping[tuple[str, str], str], outcomes: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the sorted ``setting=outcome`` strings of every task.

    Parameters
    ----------
    lines
        Lines of ``gold_outcomes.jsonl``.
    settings
        Short name of each (dataset, source) wanted; lines of others are left out.
    outcomes
        The word of ``Spec.outcomes`` for each outcome as its source writes it.

    Raises
    ------
    FactsError
        One task has two outcomes under one setting, or an outcome has no word.
    """
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        setting = settings.get((line["dataset"], line["source"]))
        if setting is None:
            continue
        if line["outcome"] not in outcomes:
            raise FactsError(f"{line['instance_id']}: no word for the outcome {line['outcome']!r}")
        outcome = outcomes[line["outcome"]]
        if found.setdefault(line["instance_id"], {}).setdefault(setting, outcome) != outcome:
            raise FactsError(f"{line['instance_id']}: two outcomes under {setting}")
    return {
        task: tuple(f"{setting}={outcome}" for setting, outcome in sorted(pairs.items()))
        for task, pairs in found.items()
    }


def with_unlisted(
    named: Mapping[str, tuple[str, ...]], judged: Mapping[str, set[str]]
) -> dict[str, tuple[str, ...]]:
    """Add ``setting=unlisted`` for every task that a setting judged and does not name.

    Parameters
    ----------
    named
        What `outcomes_by_task` found.
    judged
        For each setting that publishes only its failures, the tasks that it ran.
    """
    found = {task: set(outcomes) for task, outcomes in named.items()}
    for setting, tasks in judged.items():
        for task in tasks:
            outcomes = found.setdefault(task, set())
            if not any(outcome.startswith(f"{setting}=") for outcome in outcomes):
                outcomes.add(f"{setting}=unlisted")
    return {task: tuple(sorted(outcomes)) for task, outcomes in found.items()}


def sorted_set(values: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct values, sorted."""
    return tuple(sorted(set(values)))


def expect(what: str, found: object, published: object) -> None:
    """Raise `FactsError` unless what was counted is what was published."""
    if found != published:
        raise FactsError(f"{what}: {found!r} counted, {published!r} published")
