"""What a parquet file holds beside its tasks goes with them."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_datasets import MULTISTAGE, as_parquet, plan_for, write_task, write_tasks

from partition.errors import InputError
from partition.rewrite.manifest import load_manifest
from partition.rewrite.output.rows import check_others
from partition.rewrite.rewrite import Options, rewrite
from partition.tasks.dataset import SourceKind, open_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from partition.plan.document import Plan

COUNT = 60
"""More tasks than one part of the output holds."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Return rows of tasks with columns of many types between the two that envfold reads; one is no task."""
    folder = tmp_path_factory.mktemp("columns")
    root = write_tasks(folder / "tasks", COUNT - 1)
    write_task(root / "stages", 1, MULTISTAGE)
    rows = pq.read_table(as_parquet(root, folder / "plain.parquet"))
    archives = rows.column("task_binary").to_pylist()
    archives[7] = b"no archive"
    day = dt.date(2026, 1, 1)
    columns = {
        "repo": pa.array([f"own/{number % 3}" for number in range(COUNT)]),
        "path": rows.column("path"),
        "score": pa.array([math.nan if number % 5 == 0 else number / 7 for number in range(COUNT)]),
        "tags": pa.array([["a"] * (number % 3) or None for number in range(COUNT)]),
        "task_binary": pa.array(archives, pa.binary()),
        "meta": pa.array([{"when": day, "n": number} for number in range(COUNT)]),
        "kind": pa.array(["x" if number % 2 else "y" for number in range(COUNT)]).dictionary_encode(),
        "nothing": pa.nulls(COUNT),
    }
    return pa.table(columns)


def rewritten(source: Path, out: Path) -> pa.Table:
    rewrite(plan_for(source, 4), str(source), str(out), Options(workers=1))
    return pq.read_table(out)


def by_path(table: pa.Table) -> dict[str, dict[str, Any]]:
    rows = table.drop_columns(["task_binary"]).to_pylist()
    return {row["path"]: {name: repr(cell) for name, cell in row.items()} for row in rows}


def test_every_row_keeps_the_cells_that_it_had(table: pa.Table, tmp_path: Path) -> None:
    """Also those of a task that is not folded; the row that cannot be read is left out with its cells."""
    source = tmp_path / "tasks.parquet"
    pq.write_table(table, source, row_group_size=11)
    assert open_dataset(str(source)).kind is SourceKind.PARQUET
    out = rewritten(source, tmp_path / "out.parquet")
    wanted = by_path(table.filter(pa.array([number != 7 for number in range(COUNT)])))
    assert by_path(out) == wanted
    others = [name for name in table.column_names if name not in {"path", "task_binary"}]
    assert out.column_names == ["path", "task_binary", *others]
    assert [out.schema.field(name).type for name in others] == [
        table.schema.field(name).type for name in others
    ]
    again = rewritten(tmp_path / "out.parquet", tmp_path / "again.parquet")
    assert by_path(again) == wanted


def test_files_with_other_columns_each_leave_nulls_for_one_another(table: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "files"
    source.mkdir()
    pq.write_table(table.slice(0, 30).select(["path", "task_binary", "repo"]), source / "a.parquet")
    pq.write_table(table.slice(30).select(["score", "task_binary", "path"]), source / "b.parquet")
    out = by_path(rewritten(source, tmp_path / "out.parquet"))
    full = by_path(table)
    first = table.column("path")[0].as_py()
    assert out[first] == {"path": repr(first), "repo": full[first]["repo"], "score": "None"}
    last = table.column("path")[COUNT - 1].as_py()
    assert out[last] == {"path": repr(last), "repo": "None", "score": full[last]["score"]}


def test_a_column_of_two_types_is_an_error_before_any_work(table: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "files"
    source.mkdir()
    pq.write_table(table.slice(0, 30).select(["path", "task_binary", "score"]), source / "a.parquet")
    other = table.slice(30).select(["path", "task_binary"]).append_column("score", pa.array(["high"] * 30))
    pq.write_table(other, source / "b.parquet")
    plan: Plan = plan_for(source, 4)
    with pytest.raises(InputError, match=r"column score is double in .*a.parquet and string in .*b.parquet"):
        rewrite(plan, str(source), str(tmp_path / "out.parquet"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["files"]


def test_a_directory_says_which_columns_it_has_no_place_for(table: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "tasks.parquet"
    pq.write_table(table.select(["path", "task_binary", "repo", "score"]), source)
    rewrite(plan_for(source, 4), str(source), str(tmp_path / "out"), Options(workers=1))
    notes = load_manifest(tmp_path / "out/manifest.json").notes
    assert any("left out: repo, score" in note for note in notes)


def test_cells_that_are_not_what_was_written_are_found(table: pa.Table, tmp_path: Path) -> None:
    wanted = table.select(["repo", "score"])
    pq.write_table(wanted, tmp_path / "good.parquet", row_group_size=COUNT)
    check_others(tmp_path / "good.parquet", [wanted], wanted.schema)
    pq.write_table(wanted.take([*range(COUNT - 1), 0]), tmp_path / "bad.parquet", row_group_size=COUNT)
    with pytest.raises(InputError, match="read back"):
        check_others(tmp_path / "bad.parquet", [wanted], wanted.schema)
