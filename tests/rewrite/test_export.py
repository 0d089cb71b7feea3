"""An exported module answers alone, under old interpreters too, and says the same as the plan."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import partition
from partition.errors import InputError
from partition.plan.document import dump
from partition.rewrite.export import get_specs_module, setup_for

if TYPE_CHECKING:
    from pathlib import Path

    from partition.plan.document import Plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    return partition.propose("swegym", cap=6)


def test_the_module_needs_nothing_and_answers_as_the_plan_does(plan: Plan, tmp_path: Path) -> None:
    task = min(plan.assignment)
    module = tmp_path / "specs.py"
    module.write_bytes(get_specs_module(plan))
    assert module.read_bytes() == get_specs_module(plan)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import specs;"
        "sys.stdout.write(specs.dockerfile_for(sys.argv[2]) + specs.setup_for(sys.argv[2]))"
    )
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path), task],
        capture_output=True,
        text=True,
        check=True,
    )
    script = setup_for(plan, task)
    assert answer.stdout == plan.dockerfile_for(task) + script
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_an_unknown_task_is_named_with_those_that_are_close(plan: Plan) -> None:
    task = min(plan.assignment)
    with pytest.raises(InputError) as caught:
        plan.dockerfile_for(task + "x")
    assert task in caught.value.hint


def test_a_plan_that_was_read_answers_too(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(dump(plan))
    task = min(plan.assignment)
    read = partition.load_plan(tmp_path / "plan.json")
    assert (read.setup_for(task), read.dockerfile_for(task)) == (
        setup_for(plan, task),
        plan.dockerfile_for(task),
    )
