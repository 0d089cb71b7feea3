"""What is wrong with a build context beside its key."""

from __future__ import annotations

import pytest

from partition.environments.context import broken_scripts, unseen_files
from partition.environments.snapshot import content_files
from partition.tasks.directory import read_tree


def unseen(tree, files: dict) -> list[str]:
    return [path for path, _ in unseen_files(content_files(tree(files)))]


def test_files_that_only_dockerignore_excludes_are_found(tree):
    """CASES 4: they are in the key all the same."""
    files = {
        ".dockerignore": "# comment\n*.log\nbuild/\n!build/keep\n/secret\n",
        "Dockerfile": "FROM a\n",
        "a.log": "1",
        "sub/a.log": "1",
        "build/x/y": "1",
        "build/keep": "1",
        "secret": "1",
        "sub/secret": "1",
    }
    assert unseen(tree, files) == ["a.log", "build/x/y", "secret"]


def test_the_dockerfile_and_its_ignore_file_are_always_sent(tree):
    assert unseen(tree, {".dockerignore": "**\n", "Dockerfile": "FROM a\n", "x": "1"}) == ["x"]


def test_an_ignore_file_of_the_dockerfile_comes_first(tree):
    files = {".dockerignore": "a\n", "Dockerfile.dockerignore": "\ufeffb\r\n", "a": "1", "b": "1"}
    assert unseen(tree, files) == ["b"]


def test_without_an_ignore_file_everything_is_sent(tree):
    assert unseen(tree, {"Dockerfile": "FROM a\n", "x": "1"}) == []


def test_a_pattern_that_docker_refuses_is_an_error(tree):
    with pytest.raises(ValueError, match="Invalid ignore pattern"):
        unseen(tree, {".dockerignore": "[a\n", "a": "1"})


@pytest.mark.parametrize(
    ("path", "data", "broken"),
    [
        ("solve.sh", b"#!/bin/bash\r\nexit 0\r\n", True),
        ("solve.sh", b"exit 0\nexit 1\r\n", True),
        ("solve.sh", b"#!/bin/bash\nprintf 'a\\r\\n'\n", False),
        ("entrypoint", b"#!/bin/sh\r\nexit 0\r\n", True),
        ("tool.py", b"#!/usr/bin/env python3\r\nprint()\r\n", True),
        ("tool.py", b"print()\r\n", False),
        ("data.csv", b"a,b\r\n", False),
        ("notes", b"a\r\nb\r\n", False),
        ("empty.sh", b"", False),
    ],
)
def test_a_script_is_broken_by_carriage_returns(tree, tmp_path, path, data, broken):
    expected = [f"solution/{path}"] if broken else []
    assert broken_scripts(tree({f"solution/{path}": data})) == expected
    (tmp_path / "solution").mkdir()
    (tmp_path / "solution" / path).write_bytes(data)
    assert broken_scripts(read_tree(tmp_path)) == expected
