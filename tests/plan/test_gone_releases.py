"""Nothing is planned to be installed on a release whose packages are gone from the mirrors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "rewrite"))

from made_datasets import write_task
from spec_tables import write_table

import partition
from partition.environments.bases import describe_image
from partition.rewrite.export import with_set_ups
from partition.rewrite.rewrite import Options, rewrite
from partition.tasks.dataset import open_dataset, read_all


@pytest.mark.parametrize("python", ["2.7", "3.5"])
def test_an_interpreter_whose_official_image_is_of_one_comes_from_conda(tmp_path: Path, python: str) -> None:
    """Neither git nor what the tasks need could be installed on ``python:3.5-slim-buster``."""
    rows = [
        {
            "task_id": f"t{n}",
            "repo": "a/b",
            "version": "1",
            "python": python,
            "apt": ["libpq-dev"],
            "pip": ["six"],
        }
        for n in range(3)
    ]
    plan = partition.propose(str(write_table(tmp_path / "t.csv", rows)), cap=3)
    for environment in plan.environments:
        assert not describe_image(environment.base).archived
        assert environment.python == python
        assert f"python={python}" in environment.dockerfile
        assert {"git", "libpq-dev"} <= {*environment.apt}
    assert with_set_ups(plan).setup_for("t0")


def test_an_interpreter_of_a_release_that_is_there_keeps_its_official_image(tmp_path: Path) -> None:
    rows = [{"task_id": "t", "repo": "a/b", "version": "1", "python": "3.6", "pip": ["six"]}]
    plan = partition.propose(str(write_table(tmp_path / "t.csv", rows)), cap=1)
    assert plan.environments[0].base == "python:3.6-slim-bullseye"


def test_tasks_of_such_a_base_share_it_bare_and_install_as_they_did(tmp_path: Path) -> None:
    """Their Dockerfiles know where the packages are now; the plan does not."""
    text = (
        "FROM debian:buster\n"
        "RUN sed -i s/mirror.example/archive.debian.org/ /etc/apt/sources.list\n"
        "RUN apt-get update && apt-get install -y --no-install-recommends {}\n"
        "WORKDIR /app\n"
    )
    for number, package in enumerate(("jq", "tree", "jq")):
        write_task(tmp_path / "tasks" / f"t{number}", number, text.format(package))
    plan = partition.propose(str(tmp_path / "tasks"), cap=2)
    assert [each.dockerfile for each in plan.environments] == ["FROM debian:buster\n"]
    done = rewrite(plan, str(tmp_path / "tasks"), str(tmp_path / "out"), Options(workers=1))
    assert (done.summary.folded, done.summary.after.snapshots) == (3, 1)
    tasks, _ = read_all(open_dataset(str(tmp_path / "out")), strict=True)
    shared = tasks[0].files.by_path["environment/Dockerfile"].read().decode()
    assert shared.index("archive.debian.org") > shared.index("FROM debian:buster")
    assert "apt-get install" not in shared
