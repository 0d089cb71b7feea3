"""Whatever holds a dataset is recognised, and read as one stream of tasks and faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partition.errors import Fault, InputError
from partition.tasks import Dataset, SourceKind, Task, open_dataset, read_all
from partition.tasks.embedded import TABLES
from partition.tasks.piece import Ready

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "task_id,repo,version,python,apt,pip\n"


@pytest.mark.parametrize("name", TABLES)
def test_an_embedded_dataset_is_called_by_its_name(name: str) -> None:
    dataset = open_dataset(name)
    first = next(dataset.tasks())
    assert dataset.kind is SourceKind.EMBEDDED
    assert (first.where, bool(first.spec.repo)) == (f"{name}:2", True)


def test_an_embedded_name_wins_over_a_folder_unless_that_is_written_as_a_path(
    tmp_path: Path, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.write_task(tmp_path / "swegym" / "mine")
    monkeypatch.chdir(tmp_path)
    assert open_dataset("swegym").kind is SourceKind.EMBEDDED
    assert [task.id for task in open_dataset("./swegym").tasks()] == ["mine"]


@pytest.mark.parametrize(("wrong", "right"), [("swe-gym", "swegym"), ("swebench:lit", "swebench:lite")])
def test_a_name_that_is_nothing_is_an_error_that_suggests_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(InputError, match=f"{wrong}: no such file or directory") as caught:
        open_dataset(wrong)
    assert f"did you mean {right}?" in caught.value.hint


def test_a_path_that_does_not_exist_is_an_error_that_lists_what_does() -> None:
    with pytest.raises(InputError, match="no such file") as caught:
        open_dataset("/no/such/folder/at/all")
    assert caught.value.hint.startswith("embedded datasets: swegym, swebench, swebench:lite, swebench:full;")


def test_a_file_of_another_kind_is_an_error_that_says_which_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.zip").touch()
    with pytest.raises(InputError, match=r"x\.zip: not a kind of file that holds tasks") as caught:
        open_dataset(str(tmp_path / "x.zip"))
    assert ".parquet, .csv or .jsonl" in caught.value.hint
    with pytest.raises(InputError, match="not a regular file"):
        open_dataset("/dev/null")


def test_files_of_two_kinds_in_a_folder_are_an_error(tmp_path: Path, make) -> None:
    make.write_parquet(tmp_path / "a.parquet", [("1", make.task_tar())])
    columns = {name: ["x"] for name in HEADER.strip().split(",")}
    make.pq.write_table(make.pa.table(columns), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"mixes tasks and spec tables \(parquet: a.parquet; spec table: b"):
        open_dataset(str(tmp_path))


def test_a_dataset_can_be_read_again(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "a")
    dataset = open_dataset(str(tmp_path))
    assert [task.id for task in dataset.tasks()] == [task.id for task in dataset.tasks()] == ["a"]


def stream(*items: Task | Fault) -> Dataset:
    """Return a dataset of these items."""
    return Dataset(source="x", kind=SourceKind.DIRECTORY, pieces=lambda: map(Ready, items))


A, B = Task(id="a", where="x/a"), Task(id="b", where="x/b")
BAD = Fault(where="x/c", what="is bad", task="c")


def test_reading_all_returns_tasks_and_faults() -> None:
    assert read_all(stream(A, BAD, B)) == ([A, B], (BAD,))


def test_strict_reading_ends_with_an_error_that_carries_every_fault() -> None:
    with pytest.raises(InputError, match="x: 2 faults") as caught:
        read_all(stream(A, BAD, B, BAD), strict=True)
    assert caught.value.faults == (BAD, BAD)
    assert read_all(stream(A, B), strict=True) == ([A, B], ())


def test_a_dataset_of_faults_only_is_an_error_even_when_not_strict() -> None:
    with pytest.raises(InputError, match="x: 1 fault and no task that can be read"):
        read_all(stream(BAD))


def test_a_task_whose_id_was_seen_is_a_fault_that_names_both_places() -> None:
    again = Task(id="a", where="y/a")
    tasks, faults = read_all(stream(A, B, again))
    assert tasks == [A, B]
    assert [str(fault) for fault in faults] == [
        "y/a: the task id 'a' was used before, by x/a (give it an id of its own)"
    ]
