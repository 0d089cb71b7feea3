"""``envfold rewrite`` answers on stdout, talks on stderr, and says what it did within 80 columns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "rewrite"))
from made_datasets import MULTISTAGE, plan_for, write_task, write_tasks

from partition.cli.main import main
from partition.errors import ExitStatus
from partition.plan.document import dump

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("rewrite")
    source = write_tasks(folder / "tasks", 6)
    write_task(source / "stages", 1, MULTISTAGE)
    (folder / "plan.json").write_bytes(dump(plan_for(source, 4)))
    return folder


def run(folder: Path, out: Path, *more: str) -> int:
    return main(["rewrite", str(folder / "plan.json"), str(folder / "tasks"), str(out), *more])


def test_the_table_says_before_and_after_and_what_was_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path / "out") == ExitStatus.OK
    said = capsys.readouterr()
    assert "before     after" in said.out
    assert "6 folded, set up by healthcheck; 1 as they were" in said.out
    assert "e.g. stages" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert f"wrote {tmp_path}/out/manifest.json" in said.err


def test_json_is_the_summary_with_the_refusals(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path / "out.parquet", "--json", "--channel", "setup-files") == ExitStatus.OK
    document = json.loads(capsys.readouterr().out)
    assert document["channel"] == "setup-files"
    assert document["after"]["snapshots"] < document["before"]["snapshots"]
    assert [each["examples"] for each in document["refusals"]] == [["stages"]]


def test_a_cap_that_cannot_hold_has_its_own_status(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path / "out", "--max-environments", "1") == ExitStatus.CAP
    said = capsys.readouterr()
    assert said.out == ""
    assert "of tasks not folded" in said.err
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_taken_is_an_error_of_the_input(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, folder / "plan.json") == ExitStatus.INPUT
    assert "never overwrites" in capsys.readouterr().err


def test_privacy_of_a_path_is_a_fault_of_usage(folder: Path, tmp_path: Path) -> None:
    assert run(folder, tmp_path / "out", "--private") == ExitStatus.USAGE
