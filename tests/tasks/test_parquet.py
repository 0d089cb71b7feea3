"""A parquet dataset is streamed: row by row, in bounded memory, with nothing written."""

from __future__ import annotations

import datetime as dt
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partition.errors import Fault, InputError
from partition.tasks.dataset import SourceKind, open_dataset

if TYPE_CHECKING:
    from pathlib import Path


def shown(source: Path) -> list[str]:
    """Return ids of tasks and texts of faults, in order."""
    items = open_dataset(str(source)).tasks()
    return [str(item).partition(" (")[0] if isinstance(item, Fault) else item.id for item in items]


def test_rows_become_tasks_named_by_their_path_in_row_order(tmp_path: Path, make) -> None:
    rows = [("b/two.tar.gz", make.task_tar()), ("a.tgz", make.task_tar(mode="w:xz")), ("c", make.task_tar())]
    file = make.write_parquet(tmp_path / "d.parquet", rows)
    dataset = open_dataset(str(file))
    assert (dataset.kind, dataset.size) == (SourceKind.PARQUET, 3)
    tasks = list(dataset.tasks())
    assert [task.id for task in tasks] == ["b/two", "a", "c"]
    assert [task.where for task in tasks] == [f"{file}[{row}]" for row in range(3)]
    assert tasks[0].files.name == "two"
    assert tasks[0].environment.get("Dockerfile").read() == make.FILES["environment/Dockerfile"]


def test_every_bad_row_is_a_fault_with_its_place_and_the_others_go_on(tmp_path: Path, make) -> None:
    good = make.task_tar()
    rows = [
        ("first", good),
        (None, good),
        ("null", None),
        ("", good),
        ("../up", good),
        ("/root", good),
        ("a\nb", good),
        ("truncated", good[:100]),
        ("no tar", b"PK\x03\x04"),
        ("no bytes", b""),
        ("hostile", make.task_tar(make.member("../../x"))),
        ("no config", make.tar(make.member("instruction.md", b"x"))),
        ("bad config", make.tar(make.member("instruction.md"), make.member("task.toml", b"\n="))),
        ("first.tar.gz", good),
        ("last", good),
    ]
    file = make.write_parquet(tmp_path / "d.parquet", rows)
    assert shown(file) == [
        "first",
        f"{file}[1]: path is null",
        f"{file}[2]: task_binary is null",
        f"{file}[3]: path b'' cannot be a task's id",
        f"{file}[4]: path b'../up' cannot be a task's id",
        f"{file}[5]: path b'/root' cannot be a task's id",
        f"{file}[6]: path b'a\\nb' cannot be a task's id",
        f"{file}[7]: the archive is truncated: the compressed data end early",
        f"{file}[8]: the archive is not a tar",
        f"{file}[9]: the archive is not a tar",
        f"{file}[10]: member '../../x' climbs out with '..'",
        f"{file}[11]/task.toml: is missing",
        f"{file}[12]/task.toml:2: not TOML: invalid statement",
        f"{file}[13]: the task id 'first' was used before, by {file}[0]",
        "last",
    ]


def test_a_path_that_is_not_utf8_is_a_fault(tmp_path: Path, make) -> None:
    column = pa.array([b"\xff", b"ok"]).view(pa.string())
    archives = pa.array([make.task_tar()] * 2, pa.binary())
    pq.write_table(pa.table({"path": column, "task_binary": archives}), tmp_path / "d.parquet")
    assert shown(tmp_path / "d.parquet") == [
        f"{tmp_path}/d.parquet[0]: path b'\\xff' cannot be a task's id",
        "ok",
    ]


@pytest.mark.parametrize(
    "types",
    [(pa.string(), pa.binary()), (pa.large_string(), pa.large_binary()), (pa.string(), pa.large_binary())],
)
def test_both_widths_of_string_and_binary_are_read(
    tmp_path: Path, make, types: tuple[pa.DataType, ...]
) -> None:
    schema = pa.schema([("path", types[0]), ("other", pa.int64()), ("task_binary", types[1])])
    table = pa.table({"path": ["a"], "other": [1], "task_binary": [make.task_tar()]}, schema)
    pq.write_table(table, tmp_path / "d.parquet")
    assert shown(tmp_path / "d.parquet") == ["a"]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"name": ["a"], "task_binary": [b""]}, "name (string), task_binary (binary)"),
        ({"path": ["a"]}, "path (string)"),
        ({"path": [1], "task_binary": [b""]}, "path (int64), task_binary (binary)"),
        ({"path": ["a"], "task_binary": ["text"]}, "path (string), task_binary (string)"),
        (
            {"path": [dt.date(2024, 1, 1)], "task_binary": [b""]},
            "path (date32[day]), task_binary (binary)",
        ),
    ],
)
def test_missing_or_mistyped_columns_are_an_error_that_shows_those_found(
    tmp_path: Path, columns: dict[str, list[object]], found: str
) -> None:
    file = tmp_path / "d.parquet"
    pq.write_table(pa.table(columns), file)
    with pytest.raises(InputError) as caught:
        open_dataset(str(file))
    assert caught.value.message == (
        f"{file}: needs one column path (string) and one task_binary (binary); found {found}"
    )


@pytest.mark.parametrize("data", [b"", b"PAR1", b"not parquet at all", b"PAR1" + bytes(100) + b"PAR1"])
def test_what_is_no_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "d.parquet").write_bytes(data)
    with pytest.raises(InputError, match=r"d\.parquet is not a readable parquet file"):
        open_dataset(str(tmp_path / "d.parquet"))


def test_a_file_that_is_damaged_or_cut_never_breaks_the_reader(tmp_path: Path, make) -> None:
    """60 seeded damages: tasks and faults, or one InputError that names the file."""
    rows = [(f"t{number}", make.task_tar()) for number in range(40)]
    file = make.write_parquet(tmp_path / "d.parquet", rows, row_group_size=10)
    sound = file.read_bytes()
    random_ = random.Random(5)
    outcomes = set()
    for _ in range(60):
        damaged = bytearray(sound)
        if random_.random() < 0.3:
            del damaged[random_.randrange(len(damaged)) :]
        else:
            for _ in range(random_.choice((1, 20))):
                damaged[random_.randrange(len(damaged))] ^= random_.randint(1, 255)
        file.write_bytes(damaged)
        try:
            outcomes.add(len(shown(file)))
        except InputError as error:
            assert str(file) in error.message  # noqa: PT017 - reading on is as good
            outcomes.add("refused")
    assert "refused" in outcomes
    assert 40 in outcomes


def test_several_files_in_a_folder_are_one_dataset(tmp_path: Path, make) -> None:
    (tmp_path / "data/more").mkdir(parents=True)
    make.write_parquet(tmp_path / "data/b.parquet", [("3", make.task_tar())])
    make.write_parquet(tmp_path / "data/a.parquet", [("1", make.task_tar()), ("2", make.task_tar())])
    make.write_parquet(tmp_path / "data/more/c.parquet", [("1", make.task_tar())])
    (tmp_path / "data/README.md").touch()
    assert open_dataset(str(tmp_path)).size == 4
    twice = f"c.parquet[0]: the task id '1' was used before, by {tmp_path}/data/a.parquet[0]"
    assert shown(tmp_path) == ["1", "2", "3", f"{tmp_path}/data/more/{twice}"]


def test_a_dataset_without_rows_is_an_error(tmp_path: Path) -> None:
    schema = pa.schema([("path", pa.string()), ("task_binary", pa.binary())])
    pq.write_table(schema.empty_table(), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"d\.parquet holds no task"):
        list(open_dataset(str(tmp_path / "d.parquet")).tasks())


MEASURE = """
import resource, sys
from partition.tasks.dataset import open_dataset
source = open_dataset(sys.argv[1])
next(iter(source.tasks()))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(1 for _ in source.tasks())
print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("row_group", [100, 100_000])
def test_memory_does_not_grow_with_the_file_or_its_row_groups(tmp_path: Path, make, row_group: int) -> None:
    """100 MB of incompressible tasks, in many row groups or in one, within 40 MB; and nothing is written."""
    noise = make.member("environment/noise", random.Random(1).randbytes(200_000))
    rows = ((f"t{number}", make.task_tar(noise, mode="w")) for number in range(500))
    options = {"row_group_size": row_group, "compression": "none", "use_dictionary": False}
    file = make.write_parquet(tmp_path / "d.parquet", rows, **options)
    assert file.stat().st_size > 100_000_000
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, file], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    count, megabytes = map(int, done.stdout.split())
    assert count == 500
    assert megabytes < 40
    assert sorted(tmp_path.iterdir()) == before


def test_a_row_that_is_too_large_is_refused_by_what_the_file_says_of_itself(
    tmp_path: Path, make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain tar of zeros is compressed a thousand times by parquet itself."""
    monkeypatch.setattr("partition.tasks.parquet.MAX_BYTES", 1 << 20)
    file = make.write_parquet(tmp_path / "d.parquet", [("bomb", bytes(2 << 20))], use_dictionary=False)
    assert file.stat().st_size < 1 << 18
    with pytest.raises(InputError, match=r"row group 0 holds 2,097,\d\d\d bytes a row"):
        list(open_dataset(str(file)).tasks())
    rows = [("bomb", bytes(2 << 20)), ("small", make.task_tar()), ("other", make.task_tar())]
    make.write_parquet(file, rows, use_dictionary=False)
    assert shown(file) == [
        f"{file}[0]: task_binary holds 2,097,152 bytes, more than 1,048,576",
        "small",
        "other",
    ]
