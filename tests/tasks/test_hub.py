"""A dataset repository is read over the requests that the Hub's own client makes, at one commit."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr
from typing import TYPE_CHECKING

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partition.errors import Fault, InputError
from partition.tasks.dataset import Dataset, SourceKind, open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = "hf://datasets/org/name"
close_session = getattr(huggingface_hub, "close_session", lambda: None)  # older clients keep none open


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test a cache of its own and no token; connections are closed behind it."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield
    close_session()


def read(dataset: Dataset) -> list[str]:
    """Return ids of tasks and texts of faults, in order."""
    return [str(item) if isinstance(item, Fault) else item.id for item in dataset.tasks()]


def parquet(make, path: Path, *ids: str) -> bytes:
    """Return the bytes of a dataset file."""
    return make.write_parquet(path, [(name, make.task_tar()) for name in ids]).read_bytes()


def test_parquet_files_are_fetched_when_they_are_reached_and_once(tmp_path: Path, make, hubs) -> None:
    files = {
        "README.md": b"# x",
        "data/b.parquet": parquet(make, tmp_path / "b.parquet", "3"),
        "data/a.parquet": parquet(make, tmp_path / "a.parquet", "1.tar.gz", "2"),
    }
    with hubs.serving(hubs.Hub(files)) as hub:
        dataset = open_dataset(SOURCE, endpoint=hub.address)
        assert (dataset.kind, dataset.revision, dataset.size) == (SourceKind.HUB, hubs.COMMIT, None)
        assert not any("/resolve/" in path for _, path, _ in hub.requests)
        stream = dataset.tasks()
        first = next(stream)
        assert (first.id, first.where) == ("1", f"{SOURCE}/data/a.parquet[0]")
        assert not any("b.parquet" in path for _, path, _ in hub.requests)
        assert [task.id for task in stream] == ["2", "3"]
        hub.requests.clear()
        assert read(dataset) == ["1", "2", "3"]
        assert not [path for method, path, _ in hub.requests if method == "GET"]
    assert not [path for path in tmp_path.rglob("*") if path.name in make.FILES]


def test_other_columns_of_fetched_files_are_known(tmp_path: Path, make, hubs) -> None:
    table = pq.read_table(make.write_parquet(tmp_path / "a.parquet", [("1", make.task_tar())]))
    pq.write_table(table.append_column("repo", pa.array(["o/r"])), tmp_path / "b.parquet")
    files = {name: (tmp_path / name).read_bytes() for name in ("a.parquet", "b.parquet")}
    with hubs.serving(hubs.Hub(files)) as hub:
        others = open_dataset(SOURCE, endpoint=hub.address).other_columns()
        assert [batch.to_pylist() for batch in others.batches()] == [[{"repo": None}], [{"repo": "o/r"}]]
    with hubs.serving(hubs.Hub({"a.parquet": files["a.parquet"]})) as hub:
        assert open_dataset(SOURCE, endpoint=hub.address).other_columns() is None


@pytest.mark.parametrize("revision", ["main", "v1", "0123456789abcdef0123456789abcdef01234567"])
def test_a_revision_is_resolved_to_its_commit_and_only_that_is_read(
    tmp_path: Path, make, hubs, revision: str
) -> None:
    with hubs.serving(hubs.Hub({"d.parquet": parquet(make, tmp_path / "d.parquet", "1")})) as hub:
        dataset = open_dataset(f"{SOURCE}@{revision}", endpoint=hub.address)
        assert dataset.revision == hubs.COMMIT
        assert read(dataset) == ["1"]
        asked = [path for _, path, _ in hub.requests]
        assert asked[0] == f"/api/datasets/org/name/revision/{revision}"
        assert all(hubs.COMMIT in path for path in asked[1:])


def test_a_directory_of_tasks_is_read_through_a_listing_of_many_pages(make, hubs) -> None:
    files = {f"tasks/{task}/{path}": data for task in ("b", "a/deep") for path, data in make.FILES.items()}
    files["tasks/a/deep/tests/inner/instruction.md"] = b"not a task of its own"
    files["tasks/broken/instruction.md"] = b"x"
    with hubs.serving(hubs.Hub(files)) as hub:
        dataset = open_dataset(SOURCE, endpoint=hub.address)
        assert dataset.size == 3
        items = list(dataset.tasks())
        assert len([path for _, path, _ in hub.requests if "cursor=" in path]) >= 4
    deep, second, broken = items
    assert [deep.id, second.id] == ["tasks/a/deep", "tasks/b"]
    assert str(broken).startswith(f"{SOURCE}/tasks/broken/task.toml: is missing")
    assert [entry.path for entry in second.files.entries] == [
        "environment",
        "environment/Dockerfile",
        "instruction.md",
        "task.toml",
        "tests",
        "tests/test.sh",
    ]
    assert second.environment.get("Dockerfile").read() == make.FILES["environment/Dockerfile"]
    assert second.environment.get("Dockerfile").size == len(make.FILES["environment/Dockerfile"])


def test_a_repository_that_is_one_task_is_called_by_its_name(make, hubs) -> None:
    with hubs.serving(hubs.Hub(make.FILES)) as hub:
        assert read(open_dataset(SOURCE, endpoint=hub.address)) == ["name"]


def test_a_spec_table_is_read_and_its_faults_name_the_file(hubs) -> None:
    table = b"task_id,repo,version,python,apt,pip\na,o/r,1,3.9,,\nb,o/r,1,9,,\n"
    with hubs.serving(hubs.Hub({"train.csv": table})) as hub:
        good, bad = read(open_dataset(SOURCE, endpoint=hub.address))
    assert good == "a"
    assert bad.startswith(f"{SOURCE}/train.csv:3: python: '9' is not a Python version")


def refusal(hub, source: str = SOURCE) -> InputError:
    """Return the error that opening and reading `source` ends with."""
    with pytest.raises(InputError) as caught:
        read(open_dataset(source, endpoint=hub.address))
    assert "Traceback" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("settings", "source", "message", "hint"),
    [
        ({}, "hf://datasets/org/other", "no such dataset, or it is private", "HF_TOKEN"),
        ({"private": True}, SOURCE, "no such dataset, or it is private", "HF_TOKEN"),
        ({"gated": True}, SOURCE, "the dataset is gated", "ask for access"),
        ({}, f"{SOURCE}@nope", "the dataset has no such revision", "a branch, a tag or a commit"),
        ({"broken": 500}, SOURCE, "the Hub answers with HTTP status 500", "later"),
        ({"broken": 403}, SOURCE, "the Hub answers with HTTP status 403", "later"),
        ({}, SOURCE, "holds no task", "looked for directories with instruction.md"),
        ({"files": {"../../x.parquet": b""}}, SOURCE, "the Hub lists paths that are none", ""),
        ({"files": {"x.parquet": b"no"}}, SOURCE, "/x.parquet is not a readable parquet file", "again"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_remedy(
    hubs, settings: dict[str, object], source: str, message: str, hint: str
) -> None:
    with hubs.serving(hubs.Hub(**{"files": {"README.md": b""}, **settings})) as hub:
        error = refusal(hub, source)
    assert error.message.startswith(source)
    assert message in error.message
    assert hint in error.hint


def test_the_token_of_the_environment_opens_a_private_dataset_and_is_never_shown(
    tmp_path: Path, make, hubs, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"d.parquet": parquet(make, tmp_path / "d.parquet", "1")}
    with hubs.serving(hubs.Hub(files, private=True)) as hub:
        monkeypatch.setenv("HF_TOKEN", hubs.TOKEN)
        assert read(open_dataset(SOURCE, endpoint=hub.address)) == ["1"]
        monkeypatch.setenv("HF_TOKEN", "hf_wrong")
        error = refusal(hub)
    assert "hf_wrong" not in f"{error} {error.hint} {error.faults}"
    assert (error.message, error.hint) == (
        f"{SOURCE}: the Hub answers with HTTP status 401",
        "the token in HF_TOKEN was refused",
    )


def test_a_hub_that_nobody_answers_for_is_an_error_with_its_address(hubs) -> None:
    with hubs.serving(hubs.Hub({})) as hub:
        address = hub.address
    with pytest.raises(InputError, match=f"the Hub at {address} cannot be reached") as caught:
        open_dataset(SOURCE, endpoint=address)
    assert "HF_ENDPOINT" in caught.value.hint


def test_a_file_that_is_gone_when_it_is_reached_is_an_error(tmp_path: Path, make, hubs) -> None:
    files = {"d.parquet": parquet(make, tmp_path / "d.parquet", "1")}
    with hubs.serving(hubs.Hub(files)) as hub:
        dataset = open_dataset(SOURCE, endpoint=hub.address)
        hub.files.clear()
        with pytest.raises(InputError, match="the Hub answers with HTTP status 404"):
            read(dataset)


def test_a_cache_that_cannot_be_written_is_an_error_that_names_the_setting(
    tmp_path: Path, make, hubs, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "file" / "cache"))
    files = {"d.parquet": parquet(make, tmp_path / "d.parquet", "1")}
    with hubs.serving(hubs.Hub(files)) as hub:
        error = refusal(hub)
    assert error.message == f"{SOURCE}: not downloaded: Not a directory"
    assert "HF_HOME" in error.hint


@pytest.mark.parametrize(
    "source",
    ["hf://", "hf://datasets/org", "hf://org/name", "hf://datasets/a/b/c", "hf://datasets/org/na me"],
)
def test_an_address_that_makes_no_sense_is_an_error_that_shows_the_form(source: str) -> None:
    with pytest.raises(InputError, match="not an address on the Hub") as caught:
        open_dataset(source)
    assert caught.value.hint == "write hf://datasets/ORG/NAME[@REVISION]"


def test_nothing_is_drawn_where_stderr_is_no_terminal(make, hubs) -> None:
    talk = io.StringIO()
    with hubs.serving(hubs.Hub(make.FILES)) as hub, redirect_stderr(talk):
        assert read(open_dataset(SOURCE, endpoint=hub.address)) == ["name"]
    assert talk.getvalue() == ""


SCRIPT = """
from partition.tasks.dataset import open_dataset
print([task.id for task in open_dataset("hf://datasets/org/name").tasks()])
"""


def test_endpoint_token_and_cache_are_those_of_the_environment(tmp_path: Path, make, hubs) -> None:
    files = {"d.parquet": parquet(make, tmp_path / "d.parquet", "1")}
    with hubs.serving(hubs.Hub(files, gated=True)) as hub:
        settings = {"HF_ENDPOINT": hub.address, "HF_TOKEN": hubs.TOKEN, "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "['1']\n"), done.stderr
    assert list((tmp_path / "home").rglob("d.parquet"))
    assert hubs.TOKEN not in done.stderr
