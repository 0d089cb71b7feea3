"""A directory of tasks is read as it lies there, and nothing outside of it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from partition.errors import Fault, InputError
from partition.tasks.dataset import SourceKind, open_dataset
from partition.tasks.directory import read_tree
from partition.tasks.model import Kind, Task

if TYPE_CHECKING:
    from pathlib import Path

STEPS = {
    "task.toml": b'[[steps]]\nname = "one"\n\n[[steps]]\nname = "two"\n',
    "steps/one/instruction.md": b"1\n",
    "steps/two/instruction.md": b"2\n",
    "environment/Dockerfile": b"FROM x\n",
}


def read(source: Path) -> tuple[list[Task], list[str]]:
    """Return the tasks, and the faults as they are shown, without the path of the dataset."""
    items = list(open_dataset(str(source)).tasks())
    faults = [str(item).replace(str(source), "DATA") for item in items if isinstance(item, Fault)]
    return [item for item in items if isinstance(item, Task)], faults


def test_tasks_are_found_at_any_depth_in_the_order_of_their_paths(tmp_path: Path, make) -> None:
    for name in ("b", "a/deep/er/t2", "a/deep/er/t1", "a.b", "ü"):
        make.write_task(tmp_path / name)
    dataset = open_dataset(str(tmp_path))
    tasks, faults = read(tmp_path)
    assert faults == []
    assert [task.id for task in tasks] == ["a.b", "a/deep/er/t1", "a/deep/er/t2", "b", "ü"]
    assert (dataset.kind, dataset.size) == (SourceKind.DIRECTORY, 5)
    assert tasks[1].where == str(tmp_path / "a/deep/er/t1")
    assert tasks[1].files.name == "t1"


def test_nothing_below_a_task_is_taken_for_a_task(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "outer")
    make.write_task(tmp_path / "outer" / "tests" / "inner")
    tasks, faults = read(tmp_path)
    assert ([task.id for task in tasks], faults) == (["outer"], [])
    assert tasks[0].files.get("tests/inner/instruction.md") is not None


def test_a_single_task_is_called_by_its_name(tmp_path: Path, make, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make.write_task(tmp_path / "fix-it")
    assert [each.id for each in read(task)[0]] == ["fix-it"]
    monkeypatch.chdir(task)
    for here in (".", "../fix-it/.", "tests/.."):
        assert [each.id for each in open_dataset(here).tasks()] == ["fix-it"]


def test_every_entry_has_its_kind_size_and_bits_and_bytes_stay_on_disk(tmp_path: Path, make) -> None:
    task = make.write_task(
        tmp_path / "t", {**make.FILES, "environment/a/b": b"12345", "environment/a.b": b""}
    )
    (task / "environment/a/b").chmod(0o750)
    (task / "environment/empty").mkdir(mode=0o700)
    (task / "environment/link").symlink_to(".//a/./b")
    tree = read(tmp_path)[0][0].environment
    assert [entry.path for entry in tree.entries] == ["Dockerfile", "a", "a.b", "a/b", "empty", "link"]
    assert [entry.kind for entry in tree.entries] == [
        Kind.FILE,
        Kind.DIRECTORY,
        Kind.FILE,
        Kind.FILE,
        Kind.DIRECTORY,
        Kind.LINK,
    ]
    entry = tree.get("a/b")
    assert (entry.size, entry.mode, entry.read()) == (5, 0o750, b"12345")
    assert entry.source == task / "environment/a/b"
    assert (tree.get("link").target, tree.get("link").size) == (".//a/./b", 0)
    assert tree.get("empty").mode == 0o700


def test_links_are_reported_or_kept_but_never_followed(tmp_path: Path, make) -> None:
    """A link to a task is a fault, a link to a folder inside a task stays a link, a loop ends."""
    outside = make.write_task(tmp_path / "outside")
    data = tmp_path / "data"
    task = make.write_task(data / "t")
    (data / "alias").symlink_to(outside)
    (data / "loop").symlink_to(data)
    (data / "broken").symlink_to("nowhere")
    (task / "environment/out").symlink_to(outside)
    (task / "environment/self").symlink_to(".")
    tasks, faults = read(data)
    assert [each.id for each in tasks] == ["t"]
    assert faults == ["DATA/alias: is a link to a task and is not followed (put the task itself there)"]
    assert [entry.path for entry in tasks[0].environment.entries] == ["Dockerfile", "out", "self"]


def test_a_dataset_may_itself_be_named_by_a_link(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "real/t")
    (tmp_path / "alias").symlink_to("real")
    assert [task.id for task in read(tmp_path / "alias")[0]] == ["t"]


def test_a_multi_step_task_needs_no_instruction_of_its_own(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "steps", STEPS)
    tasks, faults = read(tmp_path)
    assert faults == []
    assert [step.name for step in tasks[0].config.steps] == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"task.toml": None}, "DATA/t/task.toml: is missing"),
        ({"instruction.md": None}, "DATA/t/instruction.md: is missing"),
        ({"task.toml": b"[environment\n"}, "DATA/t/task.toml:1: not TOML"),
        ({"task.toml": b'a = "\xff"\n'}, "DATA/t/task.toml:1: byte 0xff at offset 5 is not UTF-8"),
        (
            {"instruction.md": b"one\ntwo \xe9\n"},
            "DATA/t/instruction.md:2: byte 0xe9 at offset 8 is not UTF-8",
        ),
        ({"task.toml": b'[[steps]]\nname = "s"\n'}, "DATA/t/steps/s/instruction.md: is missing"),
    ],
)
def test_a_bad_task_is_a_fault_with_its_place_and_the_others_go_on(
    tmp_path: Path, make, change: dict[str, bytes | None], fault: str
) -> None:
    files = {**make.FILES, **change}
    make.write_task(tmp_path / "t", {path: data for path, data in files.items() if data is not None})
    make.write_task(tmp_path / "z")
    items = list(open_dataset(str(tmp_path)).tasks())
    assert [item.task if isinstance(item, Fault) else item.id for item in items] == ["t", "z"]
    assert str(items[0]).replace(str(tmp_path), "DATA").startswith(fault)


def test_pipes_and_links_for_task_toml_are_faults(tmp_path: Path, make) -> None:
    task = make.write_task(tmp_path / "a")
    os.mkfifo(task / "environment/pipe")
    other = make.write_task(tmp_path / "b")
    (other / "task.toml").unlink()
    (other / "task.toml").symlink_to("../a/task.toml")
    tasks, faults = read(tmp_path)
    assert tasks == []
    assert [fault.partition(" (")[0] for fault in faults] == [
        "DATA/a/environment/pipe: is a device, a pipe or a socket",
        "DATA/b/task.toml: is a link, not a regular file",
    ]


def test_names_that_are_not_utf8_or_hold_controls_are_faults_of_their_task_only(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "good")
    make.write_task(tmp_path / "x").rename(tmp_path / os.fsdecode(b"caf\xe9"))
    make.write_task(tmp_path / "y").rename(tmp_path / "new\nline")
    task = os.fsencode(make.write_task(tmp_path / "z"))
    os.close(os.open(task + b"/environment/\xff", os.O_CREAT))
    os.close(os.open(task + b"/tests/\xfe", os.O_CREAT))
    tasks, faults = read(tmp_path)
    assert [task.id for task in tasks] == ["good"]
    assert [fault.partition(" (")[0] for fault in faults] == [
        "DATA/caf\\xe9: its name is not UTF-8",
        "DATA/new\\x0aline: its name holds a control character",
        "DATA/z/environment/\\xff: its name is not UTF-8",
        "DATA/z/tests/\\xfe: its name is not UTF-8",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_and_folders_are_faults(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "a")
    (make.write_task(tmp_path / "b") / "environment/Dockerfile").chmod(0)
    (make.write_task(tmp_path / "c") / "environment").chmod(0)
    (make.write_task(tmp_path / "d")).chmod(0)
    try:
        tasks, faults = read(tmp_path)
    finally:
        for path in (tmp_path / "c/environment", tmp_path / "d"):
            path.chmod(0o755)
    assert [task.id for task in tasks] == ["a"]
    assert len(faults) == 3


def test_a_file_that_vanishes_while_reading_is_an_input_error(tmp_path: Path, make) -> None:
    task = read(make.write_task(tmp_path / "t"))[0][0]
    (tmp_path / "t/environment/Dockerfile").unlink()
    with pytest.raises(InputError, match=r"Dockerfile: cannot be read: No such file"):
        task.environment.get("Dockerfile").read()


def test_an_empty_folder_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / ".git/t").mkdir(parents=True)
    (tmp_path / ".git/t/instruction.md").touch()
    with pytest.raises(InputError, match="holds no task") as caught:
        open_dataset(str(tmp_path))
    assert "instruction.md" in caught.value.hint
    assert ".parquet" in caught.value.hint


def test_touching_every_file_changes_nothing(tmp_path: Path, make) -> None:
    make.write_task(tmp_path / "t")
    before = read(tmp_path)[0]
    for path in tmp_path.rglob("*"):
        os.utime(path, (1, 1))
    after = read(tmp_path)[0]
    assert [task.digest for task in after] == [task.digest for task in before]


SCRIPT = """
import json, sys
from partition.tasks.dataset import open_dataset
print(json.dumps([[task.id, task.digest] for task in open_dataset(sys.argv[1]).tasks()]))
"""


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "C.UTF-8"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "1"},
    ],
    ids=lambda locale: " ".join(map("=".join, locale.items())),
)
def test_no_locale_changes_an_id_or_a_digest(tmp_path: Path, make, locale: dict[str, str]) -> None:
    task = make.write_task(tmp_path / "zoë")
    make.write_task(tmp_path / "a" / "日本")
    (task / "environment/ö").symlink_to("ä")
    expected = [[task.id, task.digest] for task in read(tmp_path)[0]]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, os.fsencode(tmp_path)],
        env={**os.environ, **locale},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == expected


def test_a_tree_can_be_read_alone(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    assert [entry.path for entry in read_tree(tmp_path).entries] == ["x"]
    with pytest.raises(InputError) as caught:
        read_tree(tmp_path / "absent")
    assert "cannot be listed: No such file" in str(caught.value.faults[0])
