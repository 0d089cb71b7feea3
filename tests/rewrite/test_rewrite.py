"""A rewritten dataset holds every task, in few environments, and nothing else changed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_datasets import MULTISTAGE, as_parquet, plan_for, write_task, write_tasks

import partition
from partition.errors import CapExceededError, ExitStatus, InputError, UsageError
from partition.plan.document import dump
from partition.rewrite.manifest import load_manifest
from partition.rewrite.rewrite import Options, rewrite
from partition.tasks.dataset import open_dataset, read_all

if TYPE_CHECKING:
    from partition.plan.document import Plan
    from partition.tasks.model import Task

ONE = Options(workers=1)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("source") / "tasks")


@pytest.fixture(scope="module")
def plan(source: Path) -> Plan:
    return plan_for(source, 3)


@pytest.fixture(scope="module")
def rows(source: Path) -> Path:
    return as_parquet(source, source.parent / "tasks.parquet")


@pytest.fixture(scope="module")
def written(source: Path, plan: Plan) -> Path:
    out = source.parent / "out"
    rewrite(plan, str(source), str(out), ONE)
    return out


def tasks_of(source: Path) -> dict[str, Task]:
    tasks, _ = read_all(open_dataset(str(source)), strict=True)
    return {task.id: task for task in tasks}


class TestWhatIsWritten:
    def test_all_tasks_share_the_environments_of_the_plan(self, source: Path, written: Path) -> None:
        manifest = load_manifest(written / "manifest.json")
        assert tasks_of(written).keys() == tasks_of(source).keys()
        assert manifest.before.snapshots == 16
        assert manifest.after.snapshots <= 3
        assert manifest.folded == 16

    @pytest.mark.parametrize("key", ["content", "legacy"])
    def test_the_manifest_maps_old_keys_to_new_ones_as_counting_finds_them(
        self, source: Path, written: Path, key: str
    ) -> None:
        manifest = load_manifest(written / "manifest.json")
        names = {
            when: {
                f"harbor__{getattr(getattr(record, when), key)[0][:12]}__snapshot"
                for record in manifest.tasks
            }
            for when in ("old", "new")
        }
        assert names["old"] == {*partition.count(str(source), key=key).snapshots}
        assert names["new"] == {*partition.count(str(written), key=key).snapshots}

    def test_everything_but_environment_and_configuration_is_as_it_was(
        self, source: Path, written: Path
    ) -> None:
        before, after = tasks_of(source), tasks_of(written)
        for name, task in before.items():
            kept = [
                each for each in task.files.entries if not each.path.startswith(("environment", "task.toml"))
            ]
            assert {each.path for each in kept} >= {"tests/again.sh", "tests/empty", "tests/größe.txt"}
            for entry in kept:
                other = after[name].files.by_path[entry.path]
                assert (entry.kind, entry.mode, entry.target) == (other.kind, other.mode, other.target)
                assert entry.read() == other.read() if entry.size else True

    def test_tasks_of_one_environment_ask_for_the_most_that_one_of_them_asks_for(self, written: Path) -> None:
        assert partition.count(str(written)).resource_collisions == ()
        manifest = load_manifest(written / "manifest.json")
        assert any("memory_mb = 4096" in note for note in manifest.notes)
        config = (written / "set-1/task-001/task.toml").read_text()
        assert config.startswith('version = "1.0"  # kept\n')
        assert tomllib.loads(config)["environment"]["memory_mb"] == 4096

    def test_the_plan_stands_beside_it(self, plan: Plan, written: Path) -> None:
        assert (written / "plan.json").read_bytes() == dump(plan)

    def test_nothing_unfinished_is_left(self, written: Path) -> None:
        assert not written.with_name("out.partial").exists()


class TestForms:
    def test_parquet_and_directory_hold_the_same_tasks(
        self, rows: Path, plan: Plan, written: Path, tmp_path: Path
    ) -> None:
        rewrite(plan, str(rows), str(tmp_path / "out.parquet"), ONE)
        rewrite(plan, str(rows), str(tmp_path / "out"), ONE)
        expected = {name: task.digest for name, task in tasks_of(written).items()}
        for out in ("out.parquet", "out"):
            assert {name: task.digest for name, task in tasks_of(tmp_path / out).items()} == expected
        assert (tmp_path / "out.plan.json").read_bytes() == dump(plan)
        assert load_manifest(tmp_path / "out.manifest.json").after.snapshots <= 3

    def test_the_bytes_do_not_depend_on_the_number_of_processes(
        self, rows: Path, plan: Plan, tmp_path: Path
    ) -> None:
        for workers in (1, 2):
            (tmp_path / str(workers)).mkdir()
            out = tmp_path / str(workers) / "out.parquet"
            rewrite(plan, str(rows), str(out), Options(workers=workers))
        one, two = (
            {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("1", "2")
        )
        assert one.keys() == {"out.parquet", "out.plan.json", "out.manifest.json"}
        same = {name for name in one if one[name] == two[name]}
        assert same == {"out.parquet", "out.plan.json"}
        documents = [json.loads(each["out.manifest.json"]) | {"output": ""} for each in (one, two)]
        assert documents[0] == documents[1]

    @pytest.mark.parametrize("channel", ["scripts", "setup-files"])
    def test_every_channel_passes_the_comparison(
        self, source: Path, plan: Plan, tmp_path: Path, channel: str
    ) -> None:
        done = rewrite(plan, str(source), str(tmp_path / "out"), Options(channel=channel, workers=1))
        assert done.summary.folded == 16


class TestNothingIsOverwritten:
    @pytest.mark.parametrize("name", ["out", "out.parquet"])
    @pytest.mark.parametrize("what", ["file", "folder", "link"])
    def test_what_exists_is_an_error(
        self, source: Path, plan: Plan, tmp_path: Path, name: str, what: str
    ) -> None:
        out = tmp_path / name
        if what == "file":
            out.write_text("mine")
        elif what == "folder":
            out.mkdir()
        else:
            out.symlink_to("nowhere")
        before = sorted(tmp_path.iterdir())
        with pytest.raises(InputError, match="exists, and a rewrite never overwrites"):
            rewrite(plan, str(source), str(out), ONE)
        assert sorted(tmp_path.iterdir()) == before

    def test_a_manifest_that_stands_there_is_an_error(self, source: Path, plan: Plan, tmp_path: Path) -> None:
        (tmp_path / "out.manifest.json").write_text("mine")
        with pytest.raises(InputError, match="exists"):
            rewrite(plan, str(source), str(tmp_path / "out.parquet"), ONE)
        assert (tmp_path / "out.manifest.json").read_text() == "mine"

    def test_a_place_inside_the_source_is_an_error(self, source: Path, plan: Plan) -> None:
        with pytest.raises(InputError, match="lies inside the dataset"):
            rewrite(plan, str(source), str(source / "out"), ONE)

    def test_a_path_is_neither_private_nor_public(self, source: Path, plan: Plan, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="neither private nor public"):
            rewrite(plan, str(source), str(tmp_path / "out"), Options(private=True))


class TestAnotherDataset:
    def test_missing_tasks_are_named(self, plan: Plan, tmp_path: Path) -> None:
        other = write_tasks(tmp_path / "tasks", 15)
        write_task(other / "set-9" / "new", 3)
        with pytest.raises(InputError, match="another dataset") as caught:
            rewrite(plan, str(other), str(tmp_path / "out"), ONE)
        said = {(fault.task, fault.what) for fault in caught.value.faults}
        assert said == {
            ("set-9/new", "is not in the plan"),
            ("set-1/task-015", "is in the plan, and not in the dataset"),
        }
        assert {path.name for path in tmp_path.iterdir()} == {"tasks"}

    def test_changed_files_are_noticed(self, plan: Plan, tmp_path: Path) -> None:
        other = write_tasks(tmp_path / "tasks")
        (other / "set-0/task-000/instruction.md").write_text("Do something else.\n")
        with pytest.raises(InputError, match="same tasks with other files"):
            rewrite(plan, str(other), str(tmp_path / "out"), ONE)

    def test_a_spec_table_has_nothing_to_rewrite(self, plan: Plan, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="spec table"):
            rewrite(plan, "swegym", str(tmp_path / "out"), ONE)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return tasks of which two copy a file that no command can hold."""
    source = write_tasks(tmp_path_factory.mktemp("large") / "tasks", 6)
    for number in (0, 2):
        seed = random.Random(number).randbytes(200_000)
        for name in ("data.txt", "script.sh"):
            (source / f"set-0/task-00{number}/environment/{name}").write_bytes(seed)
    return source


class TestLargeSetUps:
    def test_what_fits_no_command_is_held_by_the_image(self, large: Path, tmp_path: Path) -> None:
        done = rewrite(plan_for(large, 3), str(large), str(tmp_path / "out"), ONE)
        held = [each for each in done.summary.environments if each.payload_bytes > 200_000]
        assert held
        assert done.summary.folded == 6
        folder = tmp_path / "out/set-0/task-000"
        digests = {path.name for path in (folder / "environment/payload").iterdir()}
        assert any(digest in (folder / "task.toml").read_text() for digest in digests)
        assert {
            hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("**/payload/*")
        } == digests

    def test_setup_files_hold_them_themselves(self, large: Path, tmp_path: Path) -> None:
        done = rewrite(
            plan_for(large, 3), str(large), str(tmp_path / "out"), replace(ONE, channel="setup-files")
        )
        assert {each.payload_bytes for each in done.summary.environments} == {0}
        assert (tmp_path / "out/set-0/task-000/setup_files/setup.sh").stat().st_size > 200_000


class TestRefusals:
    def test_a_refused_task_stays_as_it_is_and_is_counted(self, tmp_path: Path) -> None:
        source = write_tasks(tmp_path / "tasks", 6)
        write_task(source / "stages", 1, MULTISTAGE)
        done = rewrite(plan_for(source, 4), str(source), str(tmp_path / "out"), ONE)
        assert done.summary.refused == 1
        assert done.refusals[0].examples == ("stages",)
        record = next(each for each in load_manifest(done.manifest).tasks if each.task == "stages")
        assert record.old == record.new
        assert record.refused[0].where.endswith("environment/Dockerfile:4")
        assert tasks_of(tmp_path / "out")["stages"].digest == tasks_of(source)["stages"].digest
        assert done.summary.after.snapshots == len(partition.count(str(tmp_path / "out")).snapshots)

    def test_the_plan_is_solved_again_when_refusals_take_its_room(self, tmp_path: Path) -> None:
        source = tmp_path / "tasks"
        for number in range(8):
            pins = ("numpy==1.26.4", "numpy==2.0.0", "flask==2.3.3 werkzeug==2.3.8", "flask==3.0.0")
            text = f"FROM python:3.11-slim-bookworm\nRUN pip install {pins[number % 4]}\nWORKDIR /app\n"
            write_task(source / f"task-{number}", number, text)
        write_task(source / "stages", 1, MULTISTAGE)
        write_task(source / "stages-too", 2, MULTISTAGE)
        plan = plan_for(source, 4)
        assert len(plan.environments) > 2
        said: list[str] = []
        done = rewrite(plan, str(source), str(tmp_path / "out"), Options(workers=1, say=said.append))
        assert done.summary.after.snapshots <= 4
        assert done.summary.resolved_again == 1
        assert done.summary.changes_of_plan
        assert any("solving the plan again" in line for line in said)
        used = partition.load_plan(tmp_path / "out" / "plan.json")
        assert len(used.environments) == 2
        assert {each.task for each in used.refused} == {"stages", "stages-too"}

    def test_a_cap_that_refusals_alone_exceed_names_what_takes_the_places(self, tmp_path: Path) -> None:
        source = write_tasks(tmp_path / "tasks", 4)
        for number in range(3):
            write_task(source / f"stages-{number}", number, MULTISTAGE)
        with pytest.raises(CapExceededError, match="3 of tasks not folded") as caught:
            rewrite(plan_for(source, 3), str(source), str(tmp_path / "out"), ONE)
        assert caught.value.status is ExitStatus.CAP
        assert "build" in caught.value.hint
        assert {path.name for path in tmp_path.iterdir()} == {"tasks"}

    def test_a_task_without_network_whose_set_up_needs_it_is_refused(self, tmp_path: Path) -> None:
        source = write_tasks(tmp_path / "tasks", 4)
        text = "FROM debian:bookworm-slim\nWORKDIR /w\nRUN git clone https://example.org/a.git .\n"
        write_task(source / "offline", 1, text, 'network_mode = "no-network"\n')
        write_task(source / "online", 1, text)
        done = rewrite(plan_for(source, 4), str(source), str(tmp_path / "out"), ONE)
        records = {each.task: each for each in load_manifest(done.manifest).tasks}
        assert records["online"].environment is not None
        assert "network" in records["offline"].refused[0].what

    def test_a_duplicate_in_the_source_is_left_out_and_said(
        self, source: Path, plan: Plan, tmp_path: Path
    ) -> None:
        doubled = as_parquet(source, tmp_path / "in.parquet")
        table = pq.read_table(doubled)
        pq.write_table(pa.concat_tables([table, table.slice(2, 1)]), doubled)
        done = rewrite(plan, str(doubled), str(tmp_path / "out.parquet"), ONE)
        assert done.summary.tasks_written == 16
        assert "was used before" in done.faults[0].what
        with pytest.raises(InputError, match="at fault"):
            rewrite(plan, str(doubled), str(tmp_path / "out2.parquet"), replace(ONE, strict=True))


def test_the_function_and_the_package_are_one_name(source: Path, plan: Plan, tmp_path: Path) -> None:
    os.environ.pop("HF_TOKEN", None)
    done = partition.rewrite(plan, str(source), str(tmp_path / "out"), channel="setup-files")
    assert (tmp_path / "out" / "manifest.json") == Path(done.manifest)
