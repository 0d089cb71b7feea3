"""A spec table becomes tasks; each bad cell is a fault that names its physical line."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.errors import Fault, InputError
from partition.tasks.dataset import SourceKind, open_dataset
from partition.tasks.model import Spec
from partition.tasks.spec_row import COLUMNS, OUTCOMES, PYTHONS, read_row

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "task_id,repo,version,python,apt,pip\n"
SPEC = Spec(
    repo="pandas-dev/pandas",
    version="1.4",
    base_commit="a820c139ccbe6d1865d73c4a459945cd69899f8f",
    python="3.9",
    apt=("gcc", "libpq-dev=13.*"),
    pip=("numpy<2", "pytest; python_version<'3.10'"),
    conda=("cython",),
    requirement_files=("environment.yml",),
    created_at="2023-04-16",
    outcomes=(("harness=a", "fail"), ("own", "pass")),
)
CELLS = {
    "task_id": "pandas-1",
    "repo": SPEC.repo,
    "version": SPEC.version,
    "base_commit": SPEC.base_commit,
    "python": "3.9.20",
    "apt": list(SPEC.apt),
    "pip": list(SPEC.pip),
    "conda": list(SPEC.conda),
    "requirement_files": list(SPEC.requirement_files),
    "created_at": "2023-04-16T14:24:42Z",
    "outcomes": ["own=pass", "harness=a=fail"],
}


def shown(path: Path) -> list[str]:
    """Return ids of tasks and texts of faults without the folder, in order."""
    items = open_dataset(str(path)).tasks()
    return [
        str(item).replace(f"{path.parent}/", "") if isinstance(item, Fault) else item.id for item in items
    ]


def write(path: Path, data: str | bytes) -> Path:
    """Write a table."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def as_csv(rows: list[dict[str, object]]) -> str:
    """Return rows as CSV, lists as JSON arrays."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()}
        )
    return stream.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "ndjson", "parquet"])
def test_every_format_gives_the_same_task(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"specs.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist([CELLS]), path)
    else:
        write(path, as_csv([CELLS]) if suffix == "csv" else json.dumps(CELLS) + "\n")
    dataset = open_dataset(str(path))
    (task,) = dataset.tasks()
    assert dataset.kind is SourceKind.SPEC_TABLE
    assert (task.id, task.spec) == ("pandas-1", SPEC)
    assert task.where == f"{path}{'[0]' if suffix == 'parquet' else ':2' if suffix == 'csv' else ':1'}"


def test_csv_lists_may_be_separated_by_semicolons(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", HEADER + "a,o/r,1,3.9, libpq-dev ; gcc;;gcc,numpy<2;pandas\n")
    (task,) = open_dataset(str(path)).tasks()
    assert (task.spec.apt, task.spec.pip) == (("gcc", "libpq-dev"), ("numpy<2", "pandas"))


def test_what_a_row_leaves_out_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", HEADER + "a,o/r,,,,\n")
    (task,) = open_dataset(str(path)).tasks()
    assert task.spec == Spec(repo="o/r")
    path = write(tmp_path / "s.jsonl", '{"task_id": "a", "repo": "o/r", "python": null, "apt": null}\n')
    assert next(open_dataset(str(path)).tasks()).spec == Spec(repo="o/r")


def test_faults_name_the_first_physical_line_of_their_row(tmp_path: Path) -> None:
    """Right beside cells with line breaks, blank lines, CRLF, and a byte order mark."""
    text = (
        "\ufeff"
        + HEADER
        + 'a,o/r,"one\ntwo\nthree",3.9,,\n\nb,o/r,1,3.99,,\r\n"c\n",o/r,1,3.9,"x\ny",\nd,o/r,1,abc,,\n'
    )
    assert [line.partition(" ")[0] for line in shown(write(tmp_path / "s.csv", text))] == [
        "s.csv:2:",
        "s.csv:6:",
        "s.csv:7:",
        "s.csv:10:",
    ]


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (
            {"python": "3.99"},
            "python: '3.99' is not a Python version (2.7, 3.5 to 3.15) (write it as in 3.9)",
        ),
        ({"python": "abc"}, "python: 'abc' is not a Python version"),
        ({"python": "4.2"}, "python: '4.2' is not a Python version"),
        ({"python": "3"}, "python: '3' is not a Python version"),
        ({"python": ">=3.8"}, "python: '>=3.8' is not a Python version"),
        ({"python": "\uff13.9"}, "python: '\uff13.9' is not a Python version"),
        (
            {"python": 3.1},
            "python: '3.1' is not a Python version (2.7, 3.5 to 3.15) (a number lost its zero: write 3.10 in",
        ),
        ({"version": 1.1}, "version: 1.1 is not text (write it in quotes (the number 3.10 is 3.1))"),
        ({"version": True}, "version: True is not text"),
        ({"repo": ""}, "repo: is missing (write owner/name, as in pandas-dev/pandas)"),
        ({"repo": None}, "repo: is missing"),
        ({"repo": "pandas"}, "repo: 'pandas' is not a repository"),
        ({"repo": "https://x.org/a/b"}, "repo: 'https://x.org/a/b' is not a repository"),
        ({"repo": "../b"}, "repo: '../b' is not a repository"),
        ({"repo": "a/b; rm -rf /"}, "repo: 'a/b; rm -rf /' is not a repository"),
        ({"task_id": " "}, "task_id: is missing"),
        ({"task_id": ["a"]}, "task_id: ['a'] is not text"),
        ({"task_id": "a\u001b[31m"}, "task_id: 'a\\x1b[31m' holds a character that cannot be printed"),
        ({"base_commit": "main"}, "base_commit: 'main' is not a commit"),
        ({"apt": ["gcc", "x && reboot"]}, "apt: 'x && reboot' is not a Debian package"),
        ({"apt": ["-o=Dpkg::x"]}, "apt: '-o=Dpkg::x' is not a Debian package"),
        ({"apt": {"gcc": 1}}, "apt: {'gcc': 1} is not a list"),
        ({"pip": "[numpy"}, "pip: '[numpy' is not a JSON array"),
        ({"pip": ["a\nRUN x"]}, "pip: 'a\\nRUN x' holds a character that cannot be printed"),
        ({"pip": [["a"]]}, "pip: ['a'] is not text"),
        (
            {"pip": "numpy; python_version < '3.9'"},
            "pip: ';' separates items, so \"python_version < '3.9'\" would be a package",
        ),
        ({"created_at": "2024-13-45"}, "created_at: '2024-13-45' is not a date (write it as in 2023-04-16)"),
        ({"created_at": "yesterday"}, "created_at: 'yesterday' is not a date"),
        ({"created_at": 20240101.5}, "created_at: 20240101.5 is not text"),
        ({"outcome": "maybe"}, "outcome: 'maybe' is not an outcome (known: pass, fail, unlisted"),
        ({"outcomes": ["pass"]}, "outcomes: 'pass' is not an outcome (write setting=outcome)"),
        ({"outcomes": ["x=maybe"]}, "outcomes: 'maybe' is not an outcome"),
    ],
)
def test_a_bad_cell_is_a_fault_that_names_its_column_and_what_to_do(
    cells: dict[str, object], fault: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_row(CELLS | cells, where="s.csv:7")
    (found,) = caught.value.faults
    assert str(found).startswith(f"s.csv:7: {fault}")
    assert found.hint


def test_every_bad_cell_of_a_row_is_reported() -> None:
    with pytest.raises(InputError) as caught:
        read_row({"task_id": "a", "python": "4", "repo": "x", "created_at": "x"}, where="s.csv:7")
    assert [fault.what.partition(":")[0] for fault in caught.value.faults] == ["repo", "python", "created_at"]
    assert {fault.task for fault in caught.value.faults} == {"a"}


@pytest.mark.parametrize("python", PYTHONS)
def test_every_known_python_is_accepted_with_or_without_its_patch_release(python: str) -> None:
    for text in (python, f"{python}.0", f" {python}.17 "):
        assert read_row(CELLS | {"python": text}, where="x").spec.python == python


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2023-04-16", "2023-04-16"),
        ("2023-01-23 04:10:47", "2023-01-23"),
        ("2023-01-23T23:30:00-05:00", "2023-01-24"),
        (dt.date(2020, 2, 29), "2020-02-29"),
        (dt.datetime(2020, 2, 29, 23, 30, tzinfo=dt.UTC), "2020-02-29"),
    ],
)
def test_dates_are_days_in_utc(cell: object, date: str) -> None:
    assert read_row(CELLS | {"created_at": cell}, where="x").spec.created_at == date


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_lone_outcome_is_that_of_the_tasks_own_environment(outcome: str) -> None:
    cells = CELLS | {"outcomes": ["b=pass"], "outcome": outcome}
    assert read_row(cells, where="x").spec.outcomes == (("b", "pass"), ("own environment", outcome))


def test_nan_in_a_parquet_column_says_nothing(tmp_path: Path) -> None:
    rows = {**{name: [None] for name in COLUMNS}, "task_id": ["a"], "repo": ["o/r"], "python": [float("nan")]}
    pq.write_table(pa.table(rows), tmp_path / "s.parquet")
    assert next(open_dataset(str(tmp_path / "s.parquet")).tasks()).spec == Spec(repo="o/r")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_bytes_that_are_not_utf8_are_a_fault_with_line_and_offset(tmp_path: Path, suffix: str) -> None:
    if suffix == "csv":
        data = HEADER.encode() + b'a,o/r,1,3.9,,\nb,o/r,"x\ny\xe9",3.9,,\nc,o/r,1,3.9,,\n'
        line = 4
    else:
        data = b'{"task_id": "a", "repo": "o/r"}\n{"task_id": "\xe9"}\n{"task_id": "c", "repo": "o/r"}\n'
        line = 2
    assert shown(write(tmp_path / f"s.{suffix}", data)) == [
        "a",
        f"s.{suffix}:{line}: byte 0xe9 at offset {data.index(0xE9)} is not UTF-8 (save the file as UTF-8)",
        "c",
    ]


def test_a_parquet_cell_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    rows = {name: [None, None] for name in ("version", "python", "apt", "pip")}
    repos = pa.array([b"o/\xff", b"o/r"]).view(pa.string())
    pq.write_table(pa.table({"task_id": ["a", "b"], "repo": repos, **rows}), tmp_path / "s.parquet")
    assert shown(tmp_path / "s.parquet") == [
        "s.parquet[0]: byte 0xff is not UTF-8 (write text columns as UTF-8)",
        "b",
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("a,o/r,1,3.9,\n", ["s.csv:2: has 5 cells where the header has 6 (quote cells that hold a comma)"]),
        (
            "a,o/r,1,3.9,x,y,z\n",
            ["s.csv:2: has 7 cells where the header has 6 (quote cells that hold a comma)"],
        ),
        ('a,o/r,1,3.9,"x"y,\n', ["s.csv:2: not CSV: ',' expected after '\"' (check the quotes)"]),
        ('a,o/r,1,3.9,"x,\nb,o/r,1,3.9,,\n', ["s.csv:2: not CSV: unexpected end of data (check the quotes)"]),
        (f"a,o/r,{'x' * 140_000},3.9,,\n", ["s.csv:2: not CSV: field larger than field limit (131072)"]),
    ],
)
def test_what_is_no_csv_is_a_fault_with_its_line(tmp_path: Path, text: str, faults: list[str]) -> None:
    found = shown(write(tmp_path / "s.csv", HEADER + text))
    assert [line[: len(fault)] for line, fault in zip(found, faults, strict=True)] == faults


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not JSON: Expecting property name"),
        ("[1]", "is not a JSON object (write one object a line)"),
        ("[" * 200_000, "not JSON: "),
        (
            '{"task_id": "\\ud800", "repo": "o/r"}',
            "task_id: '\\ud800' holds a character that cannot be printed",
        ),
        ('{"task_id": "x", "repo": "o/r", "python": NaN, "version": 1e5}', "version: 100000.0 is not text"),
    ],
)
def test_a_bad_jsonl_line_is_a_fault_with_its_number(tmp_path: Path, line: str, fault: str) -> None:
    good = '{"task_id": "%s", "repo": "o/r"}\n'
    found = shown(write(tmp_path / "s.jsonl", good % "a" + "\n" + line + "\n" + good % "b"))
    assert (found[0], found[2]) == ("a", "b")
    assert found[1].startswith(f"s.jsonl:3: {fault}")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_missing_columns_are_an_error_that_shows_those_found_and_known(tmp_path: Path, suffix: str) -> None:
    row = {"instance_id": "a", "repo": "o/r", "version": "1", "python": "3.9", "apt": "", "pip": ""}
    path = tmp_path / f"s.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist([row]), path)
    else:
        write(path, as_csv([row]) if suffix == "csv" else json.dumps(row))
    with pytest.raises(InputError, match=r"no column task_id; found 'instance_id', 'repo'") as caught:
        shown(path)
    assert "task_id, repo, version, python, apt, pip, and may have base_commit" in caught.value.hint


def test_unknown_columns_are_faults_that_suggest_the_known_one(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", HEADER.strip() + ",creatd_at,image\na,o/r,1,3.9,,,2020-01-01,x\n")
    assert [line[:62] for line in shown(path)] == [
        "s.csv:1: column 'creatd_at' is not read (did you mean created_"[:62],
        "s.csv:1: column 'image' is not read (known columns: task_id, r"[:62],
        "a",
    ]


def test_a_column_that_comes_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 columns are called 'pip'"):
        shown(write(tmp_path / "s.csv", HEADER.strip() + ",pip\n"))


def test_duplicate_ids_are_faults_that_name_both_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", HEADER + "a,o/r,1,3.9,,\nb,o/r,1,3.9,,\na,o/r,1,3.8,,\n")
    (fault,) = [item for item in open_dataset(str(path)).tasks() if isinstance(item, Fault)]
    assert (fault.where, fault.what) == (f"{path}:4", f"the task id 'a' was used before, by {path}:2")


@pytest.mark.parametrize(("name", "message"), [("s.csv", "is empty"), ("s.jsonl", "holds no row")])
def test_an_empty_table_is_an_error(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shown(write(tmp_path / name, ""))
    if name == "s.csv":
        with pytest.raises(InputError, match="holds no task"):
            shown(write(tmp_path / name, HEADER))


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.jsonl:1: the line is longer than 16 MiB"):
        shown(write(tmp_path / "s.jsonl", b"x" * (17 << 20)))


texts = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
    .map(str.strip)
    .filter(bool)
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(texts, max_size=5), texts)
def test_any_printable_text_survives_a_csv(items: list[str], version: str) -> None:
    """Lists as JSON arrays keep every character; so do the other cells."""
    row = {"pip": json.dumps(items), "version": version}
    stream = io.StringIO(as_csv([CELLS | row]))
    (read,) = csv.DictReader(stream)
    spec = read_row(read, where="x").spec
    assert spec.version == version
    assert spec.pip == tuple(sorted({item.strip() for item in items}))


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    cells=st.dictionaries(
        st.sampled_from(COLUMNS), st.text(max_size=8) | st.floats() | st.lists(st.integers())
    )
)
def test_no_cell_breaks_the_reader(cells: dict[str, object]) -> None:
    try:
        task = read_row(cells, where="x")
    except InputError as error:
        assert error.faults  # noqa: PT017 - a task is as good
    else:
        assert task.spec is not None
