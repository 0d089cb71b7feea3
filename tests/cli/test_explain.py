"""``envfold explain`` on datasets on disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from partition.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    Captured = pytest.CaptureFixture[str]

TOML = 'version = "1.0"\n[environment]\nmemory_mb = 2048\n'


def write(root: Path, name: str, dockerfile: str, **files: str) -> None:
    folder = root / name
    (folder / "environment").mkdir(parents=True)
    (folder / "solution").mkdir()
    (folder / "tests").mkdir()
    (folder / "instruction.md").write_text("do it\n")
    (folder / "task.toml").write_text(TOML)
    (folder / "solution" / "solve.sh").write_text("true\n")
    (folder / "tests" / "test.sh").write_text("true\n")
    (folder / "environment" / "Dockerfile").write_text(dockerfile)
    for path, text in files.items():
        (folder / "environment" / path.replace("__", ".")).write_text(text)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    root = tmp_path / "artifact"
    for number in range(4):
        head = "FROM python:3.9-slim-bookworm\nRUN apt-get update && apt-get install -y git\n"
        write(root, f"t{number}", f"{head}RUN git clone https://g.org/o/r . && git checkout {number:040x}\n")
    return root


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(["explain", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_it_says_how_many_snapshots_each_driver_leaves(dataset: Path, capsys: Captured) -> None:
    status, out, _ = run(capsys, str(dataset), "--json")
    document = json.loads(out)
    assert (status, document["snapshots"], document["explained"]) == (0, 4, 4)
    assert [each["driver"] for each in document["drivers"]] == [
        "base image", "clone or checkout", "copied files", "apt", "pip", "other RUN",
        "env, arg, workdir, user", "comments and whitespace only",
    ]  # fmt: skip
    clone = document["drivers"][1]
    assert (clone["values"], clone["varying"], clone["alone"], clone["cumulative"]) == (4, 3, 1, 1)
    assert clone["examples"][0]["where"] == f"{dataset}/t0/environment/Dockerfile:3"


def test_the_text_fits_80_columns_and_names_lines(dataset: Path, capsys: Captured) -> None:
    status, out, err = run(capsys, str(dataset))
    assert (status, err) == (0, "")
    assert out.startswith("4 tasks in 4 snapshots\n")
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "..." not in out.partition("base image")[2].partition("clone or checkout\n")[0]


def test_the_same_input_gives_the_same_bytes(dataset: Path, capsys: Captured) -> None:
    assert run(capsys, str(dataset), "--json") == run(capsys, str(dataset), "--json")


def test_one_bad_task_is_listed_and_the_others_explained(dataset: Path, capsys: Captured) -> None:
    write(dataset, "bad", ">>> import os\nRUN x &&")
    status, out, err = run(capsys, str(dataset))
    assert status == 0
    assert out.startswith("4 tasks in 4 snapshots\n")
    for line, what in ((1, "unknown instruction"), (2, "RUN before FROM"), (2, "RUN ends in &&")):
        assert f"{dataset}/bad/environment/Dockerfile:{line}: {what}" in err
    assert run(capsys, str(dataset), "--strict")[0] == 1


def test_features_of_one_task_come_with_their_lines(dataset: Path, capsys: Captured) -> None:
    status, out, _ = run(capsys, str(dataset), "--features", "t1")
    assert status == 0
    assert f"git  [{dataset}/t1/environment/Dockerfile:2]" in out
    document = json.loads(run(capsys, str(dataset), "--features", "t1", "--json")[1])
    assert (document["repo"], document["commit"], document["python"]) == ("o/r", f"{1:040x}", "3.9")
    assert document["resources"]["memory_mb"] == 2048


def test_an_unknown_task_gets_a_hint(dataset: Path, capsys: Captured) -> None:
    status, _, err = run(capsys, str(dataset), "--features", "t11")
    assert status == 1
    assert "did you mean t" in err


def test_a_broken_task_asked_for_is_an_error_with_its_lines(dataset: Path, capsys: Captured) -> None:
    write(dataset, "bad", "FROM x\nRUN\n")
    status, _, err = run(capsys, str(dataset), "--features", "bad")
    assert status == 1
    assert "Dockerfile:2: RUN requires at least one argument" in err


def test_against_tells_stale_from_patcher(dataset: Path, tmp_path: Path, capsys: Captured) -> None:
    for number in range(3):
        write(tmp_path / "fresh", f"t{number}", "FROM python:3.9-slim-bookworm\n")
    document = json.loads(run(capsys, str(dataset), "--against", str(tmp_path / "fresh"), "--json")[1])
    assert (document["verdict"], document["artifact_snapshots"], document["fresh_snapshots"]) == (
        "stale",
        3,
        1,
    )
    assert document["only_artifact"] == ["t3"]
    status, out, _ = run(capsys, str(dataset), "--against", str(dataset))
    assert status == 0
    assert out.startswith("verdict: patcher")


def test_features_and_against_exclude_each_other(dataset: Path, capsys: Captured) -> None:
    assert run(capsys, str(dataset), "--features", "t1", "--against", str(dataset))[0] == 2


def test_the_embedded_specs_are_one_environment_per_distinct_row(capsys: Captured) -> None:
    status, out, _ = run(capsys, "swegym")
    assert status == 0
    assert "2438 tasks in" in out
    assert "distinct specs" in out


def test_a_dataset_of_broken_tasks_is_an_error(tmp_path: Path, capsys: Captured) -> None:
    write(tmp_path, "bad", "FROM x\nRUN\n")
    assert run(capsys, str(tmp_path))[0] == 1
