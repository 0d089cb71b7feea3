"""The library mirrors the commands, and says the same as they do."""

from __future__ import annotations

import subprocess
import sys

import pytest

import partition


def test_counting_and_explaining_agree() -> None:
    assert len(partition.count("swegym").snapshots) == 387
    assert partition.explain("swegym").snapshots == 387


def test_proposing_and_sweeping_agree() -> None:
    plan = partition.propose("swegym", cap=4)
    (point,) = partition.sweep("swegym", ks=[4]).points
    assert plan.prediction.predicted_yield == pytest.approx(point.predicted_yield)
    assert sorted(item.name for item in plan.environments) == sorted(point.names)


def test_tasks_are_plain_objects() -> None:
    tasks = partition.load_tasks("swebench:lite")
    assert len(tasks) == 300
    assert all(task.spec is not None for task in tasks)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        partition.nothing  # noqa: B018 - asking is the test


def test_importing_loads_neither_solvers_nor_plots() -> None:
    script = "import sys, partition; print({'ortools', 'matplotlib', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
