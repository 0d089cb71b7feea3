"""Links are followed as the kernel follows them, and never out of a task."""

from __future__ import annotations

import os

import pytest

from partition.environments.links import LinkLeavesTaskError, UnusablePathError, require_contained, resolve
from partition.tasks.directory import read_tree
from partition.tasks.model import Entry, Tree


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("file", "file"),
        ("./folder//file", "folder/file"),
        ("folder/../file", "file"),
        ("file/", None),
        ("link", "file"),
        ("up/file", "folder/file"),
        ("up/../file", "file"),
        ("deep/across", "folder/file"),
        ("twice", "file"),
        ("slash", None),
        ("folder/", "folder"),
        ("dot", "folder"),
        ("broken", None),
        ("file/x", None),
        ("file/..", None),
        ("nowhere/../file", None),
        ("loop", None),
        ("other-loop", None),
        ("", ""),
        (".", ""),
    ],
)
def test_a_path_leads_where_the_kernel_says(tmp_path, path, leads_to):
    """The same directory on disk is the judge."""
    task = tmp_path / "task"
    (task / "folder").mkdir(parents=True)
    (task / "deep").mkdir()
    (task / "file").write_text("1")
    (task / "folder" / "file").write_text("2")
    for name, target in {
        "link": "file",
        "up": "folder",
        "deep/across": "../up/file",
        "twice": "link",
        "slash": "file/",
        "dot": "folder/.",
        "broken": "nowhere",
        "loop": "loop",
        "other-loop": "third-loop",
        "third-loop": "./other-loop",
    }.items():
        (task / name).symlink_to(target)
    on_disk = f"{task}/{path}"
    found = resolve(read_tree(task), path)
    assert (found and found.path) == leads_to
    # pathlib would tidy the path up before the kernel sees it
    assert os.path.exists(on_disk) == (found is not None)  # noqa: PTH110
    assert found is None or os.path.samefile(on_disk, task / found.path)  # noqa: PTH121


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/etc/passwd", "is absolute: /etc/passwd"),
        ("../outside", "climbs out of it"),
        ("folder/../../outside", "climbs out of it"),
        ("../task/folder", "climbs out of it"),
    ],
)
def test_nothing_outside_the_task_is_looked_at(tree, target, why):
    task = tree({"folder/file": "1", "folder/link": "-> ../out", "out": f"-> {target}"})
    with pytest.raises(LinkLeavesTaskError, match="the link leaves the task") as caught:
        resolve(task, "folder/link")
    assert caught.value.path == "folder/link"
    assert why in caught.value.what


def test_folders_that_only_their_files_imply_are_folders():
    """A tar need not list them."""
    task = Tree((Entry(path="a-b", source=b""), Entry(path="a/b/c", source=b"")))
    assert resolve(task, "a/b/../b/c").path == "a/b/c"
    assert resolve(task, "a/b").kind == "directory"
    assert resolve(task, "a/x") is None


def test_a_contained_folder_may_link_anywhere_inside_the_task(tree):
    task = tree(
        {
            "tests/a": "-> ../shared",
            "tests/b": "-> a/x",
            "tests/gone": "-> nowhere",
            "tests/self": "-> self",
            "shared/x": "1",
            "shared/y": "-> ../solution/z",
            "solution/z": "1",
            "environment/out": "-> /etc",
        }
    )
    require_contained(task, "tests")
    require_contained(task, "missing")


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"tests/a": "-> /etc"}, "tests/a"),
        ({"tests/a": "-> ../shared", "shared/deep/out": "-> ../../.."}, "tests/a/deep/out"),
        ({"tests/a": "-> ."}, "tests/a"),
        ({"tests/a": "-> ../shared", "shared/back": "-> ../tests"}, "tests/a/back"),
    ],
)
def test_a_folder_that_leads_out_or_in_circles_is_refused_by_name(tree, files, path):
    with pytest.raises(UnusablePathError) as caught:
        require_contained(tree(files), "tests")
    assert caught.value.path == path
