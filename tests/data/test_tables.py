"""The embedded tables are what their sources say, hold facts only, and load as any spec table does."""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from data.facts import COLUMNS, FactsError, Row, expect, outcomes_by_task, render
from data.swebench.build import PYTHON_RUNTIME
from partition.tasks.dataset import open_dataset
from partition.tasks.embedded import TABLES as EMBEDDED
from partition.tasks.model import Task

ROOT = Path(__file__).parents[2]
FACTS = ROOT.parent / "shared" / "facts"
LISTS = ("apt", "pip", "conda", "requirement_files", "outcomes")
TABLES = {
    "swegym": ("swegym/tasks.csv", 2438, 11),
    "swebench": ("swebench/verified.csv", 500, 12),
    "swebench:lite": ("swebench/lite.csv", 300, 12),
    "swebench:full": ("swebench/full.csv", 2294, 12),
}
OUTCOMES = {"pass", "fail", "flaky", "network", "missing", "unverified", "unlisted"}

needs_facts = pytest.mark.skipif(not FACTS.is_dir(), reason="the facts tables are not here: ../shared/facts")


@cache
def rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "data" / TABLES[name][0]).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def cells(name: str, column: str) -> list[str]:
    return [value for row in rows(name) for value in json.loads(row[column])]


@pytest.mark.parametrize("name", TABLES)
def test_each_table_has_the_published_number_of_tasks_and_repositories(name: str) -> None:
    _, tasks, repositories = TABLES[name]
    assert tuple(rows(name)[0]) == COLUMNS
    assert len({row["task_id"] for row in rows(name)}) == len(rows(name)) == tasks
    assert len({row["repo"] for row in rows(name)}) == repositories


@pytest.mark.parametrize("name", TABLES)
def test_rows_and_lists_are_sorted_and_without_duplicates(name: str) -> None:
    ids = [row["task_id"] for row in rows(name)]
    assert ids == sorted(ids)
    for row in rows(name):
        for column in LISTS:
            values = json.loads(row[column])
            assert values == sorted(set(values))


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_has_the_shape_that_the_readme_states(name: str) -> None:
    for row in rows(name):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", row["repo"])
        assert row["task_id"].lower().startswith(row["repo"].lower().replace("/", "__") + "-")
        assert re.fullmatch(r"(\d[\w.]*)?", row["version"])
        assert re.fullmatch(r"([0-9a-f]{40})?", row["base_commit"])
        assert re.fullmatch(r"(3\.\d{1,2})?", row["python"])
        assert re.fullmatch(r"(20\d\d-[01]\d-[0-3]\d)?", row["created_at"])
    assert {pair.partition("=")[2] for pair in cells(name, "outcomes")} <= OUTCOMES


@pytest.mark.parametrize("name", TABLES)
def test_no_cell_holds_a_command(name: str) -> None:
    command = re.compile(r"[\s;&|`$\"'\\]|\b(sed|make|apt-get|export|install|python -m)\b")
    for column in LISTS:
        assert [value for value in cells(name, column) if command.search(value)] == []


def test_swegym_is_what_its_sources_counted() -> None:
    """The totals are those of the harness constants and of the three published outcome lists."""
    pairs = Counter(cells("swegym", "outcomes"))
    assert pairs == {
        "openhands=pass": 2119,
        "openhands=unverified": 319,
        "env-swe-gym=fail": 220 + 10,
        "env-swe-gym=network": 56,
        "env-swe-gym=flaky": 4,
        "env-swe-gym=missing": 36,
        "env-swe-gym=unlisted": 2112,
        "harbor=missing": 38,
    }
    pythons = Counter(row["python"] for row in rows("swegym"))
    assert pythons == {"": 882, "3.8": 594, "3.12": 385, "3.9": 348, "3.10": 159, "3.11": 70}
    assert len({(row["repo"], row["version"]) for row in rows("swegym")}) == 200
    assert len({(row["python"], row["apt"]) for row in rows("swegym")}) == 13
    disputed = Counter(
        row["outcomes"] for row in rows("swegym") if "env-swe-gym=fail" in json.loads(row["outcomes"])
    )
    assert disputed['["env-swe-gym=fail","openhands=pass"]'] == 82
    assert disputed['["env-swe-gym=fail","openhands=unverified"]'] == 148


def test_a_python_is_left_out_only_where_a_file_decides_it() -> None:
    for row in rows("swegym"):
        assert bool(row["python"]) != (row["repo"] in {"pandas-dev/pandas", "dask/dask"})
        if not row["python"]:
            assert json.loads(row["requirement_files"])


def test_verified_holds_the_63_environments_that_the_harness_builds() -> None:
    assert len({(row["python"], row["pip"], row["conda"]) for row in rows("swebench")}) == 63
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", pin) for pin in cells("swebench", "pip"))
    assert all(re.fullmatch(r"[\w.-]+=[\w.+!-]+", pin) for pin in cells("swebench", "conda"))
    assert not PYTHON_RUNTIME & {pin.partition("=")[0] for pin in cells("swebench", "conda")}


def test_full_agrees_with_verified_and_lite_and_claims_no_more() -> None:
    full = {row["task_id"]: row for row in rows("swebench:full")}
    for name in ("swebench", "swebench:lite"):
        for row in rows(name):
            for column in ("repo", "version", "base_commit", "created_at", "outcomes", "apt", "python"):
                assert full[row["task_id"]][column] == row[column]
    unknown = [row for row in full.values() if not row["version"]]
    assert len(unknown) == 2294 - 801
    assert all(row["python"] == "" and row["pip"] == "[]" for row in unknown)


def test_every_embedded_dataset_is_tested_here() -> None:
    assert EMBEDDED.keys() == TABLES.keys()


@pytest.mark.parametrize("name", TABLES)
def test_each_table_loads_without_a_fault(name: str) -> None:
    tasks = [item for item in open_dataset(name).tasks() if isinstance(item, Task)]
    assert [task.id for task in tasks] == [row["task_id"] for row in rows(name)]
    for task, row in zip(tasks, rows(name), strict=True):
        assert task.spec.repo == row["repo"]
        assert list(task.spec.pip) == json.loads(row["pip"])
        assert [f"{setting}={outcome}" for setting, outcome in task.spec.outcomes] == json.loads(
            row["outcomes"]
        )


@needs_facts
@pytest.mark.parametrize("folder", ["swegym", "swebench"])
def test_building_again_gives_the_stored_bytes(folder: str) -> None:
    tables = importlib.import_module(f"data.{folder}.build").build(FACTS)
    assert {path.name for path in (ROOT / "data" / folder).glob("*.csv")} == tables.keys()
    for name, table in tables.items():
        assert (ROOT / "data" / folder / name).read_bytes() == table


def test_render_refuses_one_id_twice() -> None:
    with pytest.raises(FactsError, match="a__a-1 is there twice"):
        render([Row(task_id="a__a-1", repo="a/a"), Row(task_id="a__a-1", repo="a/b")])


def test_render_does_not_depend_on_the_order_of_its_rows() -> None:
    table = [Row(task_id=f"a__a-{number}", repo="a/a", pip=("b", "c,d")) for number in range(12)]
    assert render(table) == render(reversed(table))


def test_two_outcomes_under_one_setting_are_refused() -> None:
    line = {"dataset": "d", "source": "s", "instance_id": "a__a-1", "outcome": "good"}
    settings = {("d", "s"): "short"}
    words = {"good": "pass", "bad": "fail"}
    assert outcomes_by_task([line, line], settings, words) == {"a__a-1": ("short=pass",)}
    with pytest.raises(FactsError, match="two outcomes under short"):
        outcomes_by_task([line, line | {"outcome": "bad"}], settings, words)
    with pytest.raises(FactsError, match="no word for the outcome 'odd'"):
        outcomes_by_task([line | {"outcome": "odd"}], settings, words)


def test_a_total_that_differs_from_the_published_one_is_refused() -> None:
    with pytest.raises(FactsError, match="tasks: 3 counted, 4 published"):
        expect("tasks", 3, 4)
