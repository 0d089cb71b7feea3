"""A proposed plan: what it holds, what it is made from, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from spec_tables import three_families, write_table

from partition.environments.caps import PRESETS
from partition.errors import CapExceededError, InfeasibleError, InputError, UsageError
from partition.plan.check import check_plan
from partition.plan.document import Plan, dump, load_plan
from partition.plan.limits import Limits, limits_for
from partition.plan.problem import Problem, read_problem
from partition.plan.propose import propose
from partition.plan.standing import Standing, read_standing
from partition.tasks.dataset import open_dataset

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "specs.csv", three_families())


def _problem(source: Path | str, standing: Standing | None = None, **options: Any) -> Problem:
    return read_problem(open_dataset(str(source)), standing or Standing(), **options)


def _limits(k: int, **fields: Any) -> Limits:
    return limits_for(k, preset=None, existing=0, **fields)


def _propose(source: Path | str, k: int, standing: Standing | None = None) -> Plan:
    return propose(_problem(source, standing), _limits(k))


class TestPlan:
    def test_every_task_is_assigned_to_an_environment_of_the_plan(self, table: Path) -> None:
        plan = _propose(table, 3)
        assert len(plan.assignment) == 60
        assert {item.environment for item in plan.assignment.values()} == {e.name for e in plan.environments}
        assert sum(item.tasks for item in plan.environments) == 60
        assert plan.status == "OPTIMAL"
        assert plan.gap == 0

    def test_the_digest_names_the_bytes_of_the_input(self, table: Path) -> None:
        first = _propose(table, 2).inputs.digest
        rows = three_families()
        assert _propose(write_table(table, reversed(rows)), 2).inputs.digest == first
        rows[0]["version"] = "9.0"
        assert _propose(write_table(table, rows), 2).inputs.digest != first

    def test_more_environments_never_predict_less(self, table: Path) -> None:
        yields = [_propose(table, k).prediction.predicted_yield for k in range(1, 13)]
        assert yields == sorted(yields)

    def test_the_order_of_the_rows_does_not_matter(self, table: Path, tmp_path: Path) -> None:
        other = write_table(tmp_path / "other.csv", reversed(three_families()))
        first, second = _propose(table, 3), _propose(other, 3)
        assert first.environments == second.environments
        assert first.assignment == second.assignment

    def test_system_packages_are_those_of_its_tasks_and_what_cloning_takes(self, table: Path) -> None:
        plan = _propose(table, 2)
        cloning = {"build-essential", "ca-certificates", "git"}
        wanted = {task: set(row["apt"]) for task, row in _rows().items()}  # type: ignore[call-overload]
        for item in plan.environments:
            tasks = [task for task, entry in plan.assignment.items() if entry.environment == item.name]
            assert set(item.apt) == cloning | {package for task in tasks for package in wanted[task]}
            assert all(f" {package} " in item.dockerfile for package in item.apt)

    def test_a_document_read_back_is_the_same(self, table: Path, tmp_path: Path) -> None:
        plan = _propose(table, 3)
        path = tmp_path / "plan.json"
        path.write_bytes(dump(plan))
        assert load_plan(path) == plan
        assert dump(load_plan(path)) == path.read_bytes()

    @pytest.mark.parametrize("call", ["propose({!r}, cap=3)", "sweep({!r}, ks=range(1, 8))"])
    def test_byte_identical_in_fresh_processes(self, tmp_path: Path, call: str) -> None:
        """Also under other hash seeds, and with two spellings of one version among the releases."""
        rows = three_families()
        for row in rows[::2]:
            row["version"] = f"0{row['version']}"
        table = write_table(tmp_path / "specs.csv", rows)
        script = (
            "import sys, partition; from partition.plan.document import dump; "
            f"sys.stdout.buffer.write(dump(partition.{call.format(str(table))}))"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", script],
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2", "3")
        }
        assert len(runs) == 1
        assert runs.pop().startswith(b"{")

    def test_setup_clones_at_run_time_and_skips_what_is_baked(self, table: Path) -> None:
        plan = _propose(table, 12)
        for entry in plan.assignment.values():
            steps = [step["step"] for step in entry.setup]
            assert "clone" in steps
            assert ("install" in steps) is (entry.venv is None)


def _rows() -> dict[str, dict[str, object]]:
    return {str(row["task_id"]): row for row in three_families()}


class TestCaps:
    @pytest.mark.parametrize("k", [0, -3])
    def test_k_below_one_is_a_usage_error(self, k: int) -> None:
        with pytest.raises(UsageError, match="cannot hold a task"):
            _limits(k)

    def test_the_stricter_cap_holds(self) -> None:
        preset = PRESETS["daytona"]
        assert limits_for(25, preset=preset, existing=0).max_new == 10
        assert limits_for(4, preset=preset, existing=0).max_new == 4
        assert limits_for(25, preset=preset, existing=37).max_new == 3
        assert limits_for(None, preset=preset, existing=0).max_environments == 10

    def test_no_room_in_the_organisation_is_an_error_that_no_option_turns_off(self) -> None:
        with pytest.raises(CapExceededError, match="41 snapshots exist"):
            limits_for(5, preset=PRESETS["daytona"], existing=41)

    def test_no_room_for_a_new_snapshot_and_none_that_serves(self, table: Path) -> None:
        limits = limits_for(5, preset=PRESETS["daytona"], existing=40)
        with pytest.raises(CapExceededError, match="no room"):
            propose(_problem(table), limits)

    def test_an_image_above_the_disk_cap_is_never_planned(self, tmp_path: Path) -> None:
        rows = three_families(9)
        for row in rows:
            row["pip"] = ["torch==2.0"]
        problem = _problem(write_table(tmp_path / "heavy.csv", rows))
        limits = Limits(max_environments=4, max_new=4, disk_bytes=2_000_000_000)
        plan = propose(problem, limits)
        assert all(item.predicted_size_bytes <= 2_000_000_000 for item in plan.environments)
        assert not any(item.venvs for item in plan.environments)
        with pytest.raises(InfeasibleError):
            propose(problem, Limits(max_environments=4, max_new=4, disk_bytes=1000))


class TestStanding:
    def test_existing_environments_are_free(self, table: Path, tmp_path: Path) -> None:
        before = _propose(table, 2)
        path = tmp_path / "before.json"
        path.write_bytes(dump(before))
        standing = read_standing(path, None)
        plan = _propose(table, 1, standing)
        assert sum(not item.exists for item in plan.environments) <= 1
        assert plan.prediction.predicted_yield >= before.prediction.predicted_yield
        assert {item.snapshot for item in plan.environments if item.exists} <= {
            item.snapshot for item in before.environments
        }

    def test_the_previous_plan_is_kept_where_it_is_as_good(self, table: Path, tmp_path: Path) -> None:
        before = _propose(table, 3)
        path = tmp_path / "before.json"
        path.write_bytes(dump(before))
        after = _propose(table, 3, read_standing(None, path))
        assert {item.snapshot for item in after.environments} == {
            item.snapshot for item in before.environments
        }
        assert after.objective == pytest.approx(before.objective)
        assert after.inputs.previous == hashlib.sha256(path.read_bytes()).hexdigest()

    def test_a_bad_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"missing\.json"):
            read_standing(tmp_path / "missing.json", None)
        path = tmp_path / "odd.json"
        path.write_text('{"schema_version": "0"}', encoding="utf-8")
        with pytest.raises(InputError, match="schema_version is '0'"):
            read_standing(None, path)

    def test_every_misfit_of_a_plan_is_named(self, table: Path, tmp_path: Path) -> None:
        raw = _propose(table, 2).model_dump(mode="json")
        raw["status"] = "GREAT"
        del raw["environments"][0]["dockerfile"]
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(raw), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            load_plan(path)
        assert {fault.where.rpartition(": ")[2] for fault in caught.value.faults} == {
            "status",
            "environments.0.dockerfile",
        }


class TestRefusals:
    def test_one_bad_row_is_listed_and_the_others_go_on(self, table: Path) -> None:
        text = table.read_text(encoding="utf-8").replace("task-000,a/one,1.0,3.8", "task-000,a/one,1.0,3.99")
        table.write_text(text, encoding="utf-8")
        plan = _propose(table, 2)
        assert len(plan.assignment) == 59
        assert len(plan.inputs.faults) == 1
        assert "3.99" in plan.inputs.faults[0]
        with pytest.raises(InputError) as caught:
            _problem(table, strict=True)
        assert len(caught.value.faults) == 1

    def test_a_dataset_without_a_foldable_task_is_an_error(self, tmp_path: Path) -> None:
        path = write_table(tmp_path / "bad.csv", [{"task_id": "x", "repo": "a/b", "python": "9.9"}])
        with pytest.raises(InputError, match="no task can be folded"):
            _problem(path)


class TestChecker:
    """Each rule broken once."""

    @pytest.fixture
    def plan(self, table: Path) -> Plan:
        return _propose(table, 3)

    def test_accepts_what_propose_makes(self, plan: Plan) -> None:
        check_plan(plan)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda raw: raw["limits"].update(max_new=1), "exceed the cap of 1"),
            (lambda raw: raw["environments"][0].update(dockerfile="FROM scratch\n"), "not the key"),
            (lambda raw: raw["environments"][0].update(tasks=1), "says 1 tasks"),
            (lambda raw: raw["environments"].append(raw["environments"][0]), "is there 2 times"),
            (lambda raw: raw["assignment"].pop("task-000"), "accounted for"),
            (lambda raw: raw["assignment"]["task-000"].update(environment="nowhere"), "not in the plan"),
            (lambda raw: raw["assignment"]["task-000"].update(venv="none"), "does not hold"),
            (lambda raw: raw["assignment"]["task-000"].update(predicted_yield=0.99), "add up"),
            (lambda raw: raw["assignment"]["task-000"].update(low=0.9, high=0.1), "not a probability"),
            (lambda raw: raw["refused"].append({"task": "task-000", "reason": "x"}), "both assigned"),
            (lambda raw: raw.update(bound=raw["objective"] - 1), "bound is below"),
            (lambda raw: raw.update(gap=0.5), "has a gap"),
            (lambda raw: raw["limits"].update(disk_bytes=1), "can never start"),
            (lambda raw: raw["limits"].update(organisation=40, existing=40), "exceed 40"),
        ],
    )
    def test_rejects(self, plan: Plan, change: Any, message: str) -> None:
        raw = plan.model_dump(mode="json")
        change(raw)
        with pytest.raises(InputError) as caught:
            check_plan(Plan.model_validate(raw))
        assert any(message in fault.what for fault in caught.value.faults)
