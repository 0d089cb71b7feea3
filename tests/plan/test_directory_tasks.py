"""Plans for directories of Harbor tasks, with everything that may be in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partition.plan.limits import limits_for
from partition.plan.problem import Problem, read_problem
from partition.plan.propose import propose
from partition.plan.standing import Standing
from partition.tasks.dataset import open_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from partition.plan.document import Plan

_PLAIN = "FROM python:3.11-slim-bookworm\n\nRUN pip install requests rich\n\nWORKDIR /app\n"
_CLONE = (
    "FROM python:3.9-slim-bookworm\n\nRUN apt-get update && apt-get install -y git libpq-dev\n\n"
    "RUN git clone https://github.com/modin-project/modin.git /testbed\n\nWORKDIR /testbed\n\n"
    "RUN git checkout {commit} && pip install 'numpy<2' && pip install -e .\n"
)


def _write(
    root: Path, name: str, dockerfile: str | None, toml: str = "", files: dict[str, str] | None = None
) -> None:
    folder = root / name
    (folder / "environment").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "instruction.md").write_text("Do it.\n", encoding="utf-8")
    (folder / "task.toml").write_text(toml, encoding="utf-8")
    (folder / "tests" / "test.sh").write_text("true\n", encoding="utf-8")
    if dockerfile is not None:
        (folder / "environment" / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    for path, text in (files or {}).items():
        (folder / "environment" / path).write_text(text, encoding="utf-8")


def _problem(root: Path) -> Problem:
    return read_problem(open_dataset(str(root)), Standing())


def _plan(root: Path, k: int) -> Plan:
    return propose(_problem(root), limits_for(k, preset=None, existing=0))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "tasks"


def test_tasks_that_differ_in_the_commit_alone_share_an_environment(root: Path) -> None:
    """Only the last line differs in thousands of tasks: one environment, checkout at run time."""
    for number in range(6):
        _write(root, f"t{number}", _CLONE.format(commit=f"{number:040x}"))
    plan = _plan(root, 3)
    assert len(plan.environments) == 1
    clones = {task: entry.setup[0] for task, entry in plan.assignment.items()}
    assert clones["t4"] == {"step": "clone", "repo": "modin-project/modin", "commit": f"{4:040x}"}
    assert plan.environments[0].apt == ["git", "libpq-dev"]


def test_copied_files_travel_with_the_task(root: Path) -> None:
    """Same Dockerfile, different seeds: one environment, every file named in the task's own set-up."""
    for number in range(3):
        text = _PLAIN + "\nCOPY seed.txt /app/\n"
        _write(root, f"t{number}", text, files={"seed.txt": "x" * number})
    plan = _plan(root, 3)
    assert len(plan.environments) == 1
    assert {"step": "copy", "files": ["seed.txt"]} in plan.assignment["t2"].setup


@pytest.mark.parametrize("toml", ["allow_internet = false", 'network_mode = "no-network"'])
def test_an_offline_task_gets_everything_baked(root: Path, toml: str) -> None:
    _write(root, "offline", _PLAIN, toml=f"[environment]\n{toml}\n")
    for number in range(5):
        _write(root, f"t{number}", _PLAIN.replace("requests rich", "attrs"))
    plan = _plan(root, 2)
    entry = plan.assignment["offline"]
    assert entry.venv is not None
    assert not {"apt", "install", "clone", "adjust"} & {step["step"] for step in entry.setup}


def test_an_offline_task_that_must_clone_is_refused_with_the_reason(root: Path) -> None:
    toml = '[environment]\nnetwork_mode = "no-network"\n'
    _write(root, "offline", _CLONE.format(commit="a" * 40), toml=toml)
    _write(root, "online", _CLONE.format(commit="a" * 40))
    plan = _plan(root, 3)
    assert list(plan.assignment) == ["online"]
    (refused,) = plan.refused
    assert refused.task == "offline"
    assert "network mode forbids" in refused.reason


def test_what_cannot_be_folded_is_left_alone_and_named(root: Path) -> None:
    _write(root, "plain", _PLAIN)
    _write(root, "windows", _PLAIN, toml='[environment]\nos = "windows"\n')
    _write(root, "prebuilt", None, toml='[environment]\ndocker_image = "registry.invalid/x:1"\n')
    _write(root, "compose", _PLAIN, files={"docker-compose.yaml": "services: {}\n"})
    plan = _plan(root, 2)
    assert list(plan.assignment) == ["plain"]
    reasons = {item.task: item.reason.partition(":")[0] for item in plan.refused}
    assert reasons == {"compose": "compose", "prebuilt": "prebuilt image", "windows": "windows"}


def test_a_broken_dockerfile_is_a_fault_with_its_line_and_the_others_go_on(root: Path) -> None:
    _write(root, "good", _PLAIN)
    _write(root, "bad", "RUN true\nFROM x\n>>> import os\n")
    problem = _problem(root)
    assert [fault.where.rpartition("/")[2] for fault in problem.faults] == ["Dockerfile:1", "Dockerfile:3"]
    plan = propose(problem, limits_for(2, preset=None, existing=0))
    assert list(plan.assignment) == ["good"]
    assert [item.task for item in plan.refused] == ["bad"]


def test_alpine_and_debian_never_share(root: Path) -> None:
    _write(root, "debian", _PLAIN)
    _write(root, "alpine", "FROM python:3.11-alpine3.19\nRUN apk add make\nRUN pip install requests\n")
    plan = _plan(root, 1)
    assert len(plan.assignment) == 1
    assert "within the cap" in plan.refused[0].reason
    both = _plan(root, 2)
    places = {task: entry.environment for task, entry in both.assignment.items()}
    assert places["alpine"] != places["debian"]
    alpine = next(item for item in both.environments if item.name == places["alpine"])
    assert "apt-get" not in alpine.dockerfile


def test_plans_of_a_directory_are_the_same_twice(root: Path) -> None:
    for number in range(8):
        text = (_PLAIN, _CLONE.format(commit="b" * 40))[number % 2]
        _write(root, f"t{number}", text.replace("rich", f"package{number % 3}"))
    assert _plan(root, 3) == _plan(root, 3)
