"""An exported module answers alone, under old interpreters too, and says what the plan and a rewrite say."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from made_datasets import MULTISTAGE, as_parquet, plan_for, write_task, write_tasks
from spec_tables import write_table

import partition
from partition.cli.main import main
from partition.errors import CapExceededError, ExitStatus, InputError
from partition.plan.document import dump, parse_plan
from partition.rewrite.export import PlanWithSetup, get_specs_module, read_plan, with_set_ups
from partition.rewrite.rewrite import Options, rewrite
from partition.tasks.dataset import open_dataset, read_all


@pytest.fixture(scope="module")
def plan() -> PlanWithSetup:
    return with_set_ups(partition.propose("swegym", cap=6))


def loaded(plan: PlanWithSetup, folder: Path) -> dict[str, Any]:
    """Return the names of the exported module."""
    (folder / "specs.py").write_bytes(get_specs_module(plan))
    return runpy.run_path(str(folder / "specs.py"))


def test_the_module_needs_nothing_and_answers_as_the_plan_does(plan: PlanWithSetup, tmp_path: Path) -> None:
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
    script = plan.setup_for(task)
    assert answer.stdout == plan.dockerfile_for(task) + script
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_the_module_is_python_3_8(plan: PlanWithSetup, tmp_path: Path) -> None:
    old = sorted(Path.home().glob(".pyenv/versions/3.8.*/bin/python"))
    if not old:
        pytest.skip("no Python 3.8 under ~/.pyenv/versions")
    (tmp_path / "specs.py").write_bytes(get_specs_module(plan))
    pair = next((entry.repo, entry.version) for _, entry in sorted(plan.assignment.items()))
    code = "import sys, specs; print(len(specs.get_specs(*sys.argv[1:])['setups']))"
    said = subprocess.run(
        [old[0], "-c", code, *map(str, pair)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(said.stdout) == sum((entry.repo, entry.version) == pair for entry in plan.assignment.values())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tasks(tmp_path_factory.mktemp("source") / "tasks", 12)
    text = "FROM debian:bookworm-slim\nENV A=1 B='x y'\nRUN useradd me\nUSER me\nWORKDIR /w\n"
    write_task(root / "with-user", 1, text)
    write_task(root / "stages", 1, MULTISTAGE)
    return root


@pytest.fixture(scope="module")
def folded(source: Path) -> PlanWithSetup:
    path = source.parent / "plan.json"
    path.write_bytes(dump(plan_for(source, 4)))
    return partition.load_plan(path, dataset=str(source))


class TestSpecs:
    def test_every_pair_of_the_dataset_is_answered_with_its_own_tasks(
        self, plan: PlanWithSetup, tmp_path: Path
    ) -> None:
        module = loaded(plan, tmp_path)
        tasks, _ = read_all(open_dataset("swegym"))
        pairs: dict[tuple[str, str], set[str]] = {}
        for task in tasks:
            assert task.spec is not None
            pairs.setdefault((task.spec.repo, task.spec.version), set()).add(task.id)
        assert len(plan.not_folded) < 30
        for (repo, version), found in pairs.items():
            ids = found - plan.not_folded.keys()
            if not ids:
                with pytest.raises(LookupError, match="its set-up needs conda"):
                    module["get_specs"](repo, version)
                continue
            answer = module["get_specs"](repo, version)
            assert answer["setups"].keys() == ids
            assert answer["setups"][min(ids)] == plan.setup_for(min(ids))
            environment = plan.environment_of(min(ids))
            assert answer["environment"] == environment.name
            assert answer["dockerfile"] == environment.dockerfile
            assert (answer["python"], answer["apt"]) == (environment.python, sorted(environment.apt))

    def test_tasks_of_one_pair_in_two_environments_are_named(
        self, plan: PlanWithSetup, tmp_path: Path
    ) -> None:
        first, *others = sorted(plan.assignment)
        entry = plan.assignment[first]
        mates = [each for each in others if plan.assignment[each].version == entry.version][:3]
        elsewhere = next(each.name for each in plan.environments if each.name != entry.environment)
        moved = {mates[0]: plan.assignment[mates[0]].model_copy(update={"environment": elsewhere})}
        two = with_set_ups(plan.model_copy(update={"assignment": {**plan.assignment, **moved}}))
        module = loaded(two, tmp_path)
        with pytest.raises(LookupError, match="is in 2 environments") as caught:
            module["get_specs"](entry.repo, entry.version)
        assert f"{elsewhere}: {mates[0]}" in str(caught.value)
        assert "dockerfile_for(task_id)" in str(caught.value)
        for task in (first, mates[0]):
            answer = module["get_specs"](entry.repo, entry.version, task)
            assert answer["dockerfile"] == module["dockerfile_for"](task)
            assert task in answer["setups"]
        with pytest.raises(LookupError, match="is no task of"):
            module["get_specs"](entry.repo, entry.version, "other")

    def test_what_nobody_knows_and_what_is_not_folded_is_said(self, tmp_path: Path) -> None:
        rows = [
            {"task_id": f"t{number}", "repo": "A/One", "version": "1.0", "python": "3.11"}
            for number in (1, 2)
        ]
        raw = json.loads(dump(partition.propose(str(write_table(tmp_path / "t.csv", rows)), cap=1)))
        raw["refused"] = [{"task": "t9", "reason": "needs the network", "repo": "A/One", "version": "2.0"}]
        module = loaded(with_set_ups(parse_plan(raw, where="plan")), tmp_path)
        assert module["get_specs"]("a/one", "1.0")["python"] == "3.11"
        with pytest.raises(LookupError, match=r"no task is of A/One 3.0: versions are 1.0, 2.0"):
            module["get_specs"]("A/One", "3.0")
        with pytest.raises(LookupError, match="no task is of this repository"):
            module["get_specs"]("b/two", "3.0")
        with pytest.raises(LookupError, match=r"A/One 2.0 is not folded: needs the network"):
            module["get_specs"]("A/One", "2.0")
        with pytest.raises(LookupError, match="t9: it keeps its own environment: needs the network"):
            module["setup_for"]("t9")
        with pytest.raises(LookupError, match="t7: no such task"):
            module["dockerfile_for"]("t7")

    def test_a_plan_from_before_versions_were_recorded_is_read_and_knows_no_pair(
        self, plan: PlanWithSetup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raw = json.loads(dump(plan))
        for entry in raw["assignment"].values():
            del entry["repo"], entry["version"]
        old = tmp_path / "plan.json"
        old.write_text(json.dumps(raw))
        assert main(["export", str(old), "--out", str(tmp_path / "specs.py")]) == ExitStatus.OK
        assert "knows no pair" in capsys.readouterr().err
        module = runpy.run_path(str(tmp_path / "specs.py"))
        task = min(plan.assignment)
        assert module["setup_for"](task) == plan.setup_for(task)
        with pytest.raises(LookupError, match="no task is of"):
            module["get_specs"]("python/mypy", "0.800")


class TestWithoutADataset:
    def test_an_unknown_task_is_named_with_those_that_are_close(self, plan: PlanWithSetup) -> None:
        task = min(plan.assignment)
        with pytest.raises(InputError) as caught:
            plan.dockerfile_for(task + "x")
        assert task in caught.value.hint

    def test_a_plan_that_was_read_answers_too(self, plan: PlanWithSetup, tmp_path: Path) -> None:
        (tmp_path / "plan.json").write_bytes(dump(plan))
        task = min(plan.assignment)
        read = partition.load_plan(tmp_path / "plan.json")
        assert (read.setup_for(task), read.dockerfile_for(task)) == (
            plan.setup_for(task),
            plan.dockerfile_for(task),
        )
        assert read.settings_for(task).workdir == "/testbed"
        assert read.files_for(task) == {}

    def test_without_a_commit_the_set_up_asks_for_it_before_anything_else(self, plan: PlanWithSetup) -> None:
        script = plan.setup_for(min(plan.assignment))
        asks, clones = script.index("BASE_COMMIT:?"), script.index("git clone --quiet")
        assert asks < clones
        assert "set BASE_COMMIT in the environment of the container" in script

    @pytest.mark.parametrize(
        ("row", "tool"), [({"pip": ["six"]}, "pip"), ({"conda": ["numpy"], "pip": ["six"]}, "conda")]
    )
    def test_a_task_whose_image_may_lack_what_it_installs_with_is_told_and_stops_no_other(
        self, tmp_path: Path, row: dict[str, object], tool: str
    ) -> None:
        common = {"repo": "a/b", "version": "1", "python": "3.11"}
        rows = [{"task_id": "t", **common, **row}, {"task_id": "other", **common}]
        table = tmp_path / "t.jsonl"
        table.write_text("".join(json.dumps(each) + "\n" for each in rows))
        raw = json.loads(dump(partition.propose(str(table), cap=1)))
        bare = "python:3.11-slim-bookworm" if tool == "conda" else "debian:bookworm-slim"
        raw["environments"][0] |= {"base": bare, "dockerfile": f"FROM {bare}\n"}
        install = {"step": "install", "as_of": None, **row}
        raw["assignment"]["t"]["setup"] = [install]
        raw["assignment"]["other"]["setup"] = []
        plan = with_set_ups(parse_plan(raw, where="plan"))
        assert plan.not_folded.keys() == {"t"}
        module = loaded(plan, tmp_path)
        assert module["setup_for"]("other")
        with pytest.raises(LookupError, match=f"its set-up needs {tool}, and {bare}"):
            module["setup_for"]("t")
        raw["environments"][0]["dockerfile"] += "RUN apt-get install -y python3-pip\n"
        again = with_set_ups(parse_plan(raw, where="plan"))
        assert (again.not_folded == {}) is (tool == "pip")

    def test_what_the_plan_says_is_done_with_files_that_need_not_be_there(self) -> None:
        raw = json.loads(dump(partition.propose("swegym", cap=6)))
        task = min(raw["assignment"])
        step = {
            "step": "install",
            "files": ["ci/a.yml", "b.yml", "r.txt"],
            "pip": ["x==2"],
            "as_of": "2020-01-02",
        }
        raw["assignment"][task]["setup"] = [step]
        conda = next(e for e in raw["environments"] if e["base"].startswith("condaforge"))
        raw["assignment"][task]["environment"] = conda["name"]
        script = with_set_ups(parse_plan(raw, where="plan")).setup_for(task)
        assert "for file in /testbed/ci/a.yml /testbed/b.yml; do" in script
        assert script.count("conda env update") == 1
        assert "--exclude-newer 2020-01-02 -r /testbed/r.txt x==2 ||" in script

    def test_a_conda_image_that_bakes_nothing_gets_the_environment_of_the_projects(
        self, tmp_path: Path
    ) -> None:
        rows = [{"task_id": "t", "repo": "a/b", "version": "1", "python": "3.5", "pip": ["six"]}]
        raw = json.loads(dump(partition.propose(str(write_table(tmp_path / "t.csv", rows)), cap=1)))
        script = with_set_ups(parse_plan(raw, where="plan")).setup_for("t")
        assert "conda create" not in script
        image = raw["environments"][0]
        image["dockerfile"] = f"FROM {image['base']}\n"
        script = with_set_ups(parse_plan(raw, where="plan")).setup_for("t")
        assert script.index("conda create --yes --quiet --name testbed python=3.5") < script.index(
            "-m pip install"
        )


class TestWithADataset:
    def test_a_plan_of_dockerfiles_says_that_it_needs_one(self, folded: PlanWithSetup, source: Path) -> None:
        with pytest.raises(InputError) as caught:
            get_specs_module(read_plan(source.parent / "plan.json"))
        assert "--dataset" in caught.value.hint
        assert len(caught.value.faults) == len(folded.assignment)

    @pytest.mark.usefixtures("folded")
    @pytest.mark.parametrize("form", ["directory", "parquet"])
    def test_set_up_is_what_a_rewrite_writes(self, source: Path, tmp_path: Path, form: str) -> None:
        given = str(source)
        if form == "parquet":
            given = str(as_parquet(source, tmp_path / "tasks.parquet"))
            made = plan_for(tmp_path / "tasks.parquet", 4)
        else:
            made = read_plan(source.parent / "plan.json")
        answering = with_set_ups(made, given)
        out = tmp_path / "out"
        rewrite(made, given, str(out), Options(workers=1, channel="setup-files"))
        tasks, _ = read_all(open_dataset(str(out)), strict=True)
        assert answering.not_folded.keys() == {"stages"}
        for task in tasks:
            if task.id == "stages":
                continue
            written = task.files.by_path["setup_files/setup.sh"].read().decode()
            assert written.replace("trap 'rm -f -- \"$0\"' EXIT\n", "", 1) == answering.setup_for(task.id)
            files = {each.path: (each.mode, each.read()) for each in task.environment.files()}
            dockerfile = answering.dockerfile_for(task.id).encode()
            assert {**answering.files_for(task.id), "Dockerfile": (0o644, dockerfile)} == files
            settings = answering.settings_for(task.id)
            assert (settings.workdir, settings.env) == (
                task.config.environment.workdir,
                dict(task.config.environment.env),
            )
            document = tomllib.loads(task.files.by_path["task.toml"].read().decode())
            assert settings.user == document.get("agent", {}).get("user")

    def test_the_module_has_it_with_the_files_and_settings(
        self, folded: PlanWithSetup, tmp_path: Path
    ) -> None:
        module = loaded(folded, tmp_path)
        for task in folded.assignment:
            if task == "stages":
                continue
            assert module["setup_for"](task) == folded.setup_for(task)
            assert module["files_for"](task) == folded.files_for(task)
            assert module["dockerfile_for"](task) == folded.dockerfile_for(task)
        assert module["settings_for"]("with-user") == {
            "workdir": "/w",
            "env": {"A": "1", "B": "x y"},
            "user": "me",
        }

    def test_a_task_that_cannot_be_folded_says_why(self, folded: PlanWithSetup, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="stages is not folded"):
            folded.setup_for("stages")
        with pytest.raises(LookupError, match="stages: it keeps its own environment"):
            loaded(folded, tmp_path)["dockerfile_for"]("stages")

    def test_a_cap_that_does_not_hold_is_an_error(self, source: Path) -> None:
        tight = plan_for(source, 2)
        with pytest.raises(CapExceededError) as caught:
            with_set_ups(tight, str(source))
        assert "envfold rewrite" in caught.value.hint

    def test_another_dataset_and_a_table_are_refused(self, folded: PlanWithSetup, tmp_path: Path) -> None:
        other = write_tasks(tmp_path / "other", 2)
        with pytest.raises(InputError, match="another dataset"):
            with_set_ups(folded, str(other))
        with pytest.raises(InputError, match="spec table"):
            with_set_ups(folded, "swegym")

    def test_the_command_takes_it(
        self, source: Path, folded: PlanWithSetup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plan, out = source.parent / "plan.json", tmp_path / "specs.py"
        assert main(["export", str(plan), "--out", str(out)]) == ExitStatus.INPUT
        assert main(["export", str(plan), "--dataset", str(source), "--out", str(out)]) == ExitStatus.OK
        assert "1 task not folded" in capsys.readouterr().err
        assert out.read_bytes() == get_specs_module(folded)
