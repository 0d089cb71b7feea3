"""No difference between a task and its folded form goes unnoticed; those that folding makes are no news."""

from __future__ import annotations

from dataclasses import replace

import pytest

from partition.rewrite.compare import differences, unexplained
from partition.tasks.model import Entry, Kind, Tree

SHARED = Tree((Entry(path="Dockerfile", source=b"FROM x\n", size=7),), name="environment")

TOML = b"""\
[metadata]
name = "n"

[environment]
memory_mb = 2048
workdir = "/w"

[environment.env]
A = "1"
"""


def file(path: str, data: bytes, mode: int = 0o644) -> Entry:
    return Entry(path=path, source=data, size=len(data), mode=mode)


def tree(*entries: Entry) -> Tree:
    folders = {entry.path.rpartition("/")[0] for entry in entries} - {""}
    made = [Entry(path=path, kind=Kind.DIRECTORY, mode=0o755) for path in folders]
    return Tree(tuple(sorted((*entries, *made), key=lambda entry: entry.path)), name="task")


SOURCE = tree(
    file("instruction.md", b"Do it.\n"),
    file("task.toml", TOML),
    file("environment/Dockerfile", b"FROM mine\n"),
    file("tests/test.sh", b"#!/bin/sh\nexit 0\n", 0o755),
    Entry(path="tests/link", kind=Kind.LINK, mode=0o777, target="test.sh"),
)


def written(**changed: Entry | None) -> Tree:
    """Return the folded task with entries changed or left out; ``__`` is ``/`` and ``_DOT_`` is a dot."""
    entries = {entry.path: entry for entry in SOURCE.entries}
    entries["environment/Dockerfile"] = file("environment/Dockerfile", b"FROM x\n")
    for name, entry in changed.items():
        path = name.replace("__", "/").replace("_DOT_", ".")
        if entry is None:
            del entries[path]
        else:
            entries[path] = replace(entry, path=path)
    return Tree(tuple(entries[path] for path in sorted(entries)), name="task")


def said(tree: Tree) -> list[str]:
    faults = unexplained(SOURCE, tree, SHARED, channel="healthcheck", task="t", where="d/t")
    return [f"{fault.where}: {fault.what}" for fault in faults]


def test_a_folded_task_has_no_difference_without_a_reason() -> None:
    more = TOML.replace(b'A = "1"', b'A = "1"\nB = "2"').replace(b"2048", b"4096")
    more += b'[environment.healthcheck]\ncommand = "c"\n\n[agent]\nuser = "u"\n'
    assert said(written(task_DOT_toml=file("", more))) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"tests__test_DOT_sh": None}, "d/t/tests/test.sh: is lost"),
        ({"tests__new": file("", b"")}, "d/t/tests/new: was not there before"),
        (
            {"tests__test_DOT_sh": file("", b"#!/bin/sh\nexit 0\n", 0o644)},
            "d/t/tests/test.sh: was a file of mode 755 and is a file of mode 644",
        ),
        (
            {"tests__test_DOT_sh": file("", b"#!/bin/sh\nexit 1\n", 0o755)},
            "d/t/tests/test.sh: has other bytes",
        ),
        (
            {"tests__link": Entry(path="", kind=Kind.LINK, mode=0o777, target="other")},
            "d/t/tests/link: was a link to 'test.sh' and is a link to 'other'",
        ),
        ({"instruction_DOT_md": file("", b"Do it!\n")}, "d/t/instruction.md: has other bytes"),
        ({"environment__Dockerfile": file("", b"FROM y\n")}, "d/t/environment/Dockerfile: has other bytes"),
        ({"environment__extra": file("", b"")}, "d/t/environment/extra: was not there before"),
        ({"setup_files": Entry(path="", kind=Kind.DIRECTORY)}, "d/t/setup_files: was not there before"),
        (
            {"task_DOT_toml": file("", TOML.replace(b'A = "1"', b'A = "2"'))},
            "d/t/task.toml: environment.env.A was '1' and is no more",
        ),
        (
            {"task_DOT_toml": file("", TOML.replace(b'"/w"', b'"/v"'))},
            "d/t/task.toml: environment.workdir was '/w' and is '/v'",
        ),
        (
            {"task_DOT_toml": file("", TOML.replace(b"2048", b"1024"))},
            "d/t/task.toml: environment.memory_mb was 2048 and is 1024",
        ),
        (
            {"task_DOT_toml": file("", TOML.replace(b'"n"', b'"m"'))},
            "d/t/task.toml: says something else than set-up, ENV, WORKDIR, USER and resources explain",
        ),
    ],
)
def test_every_other_difference_is_found(changed: dict[str, Entry | None], expected: str) -> None:
    assert said(written(**changed)) == [expected]


def test_a_task_that_is_not_folded_may_not_differ_at_all() -> None:
    assert differences(SOURCE, SOURCE, task="t", where="d/t") == []
    found = differences(SOURCE, written(), task="t", where="d/t")
    assert [fault.where for fault in found] == ["d/t/environment/Dockerfile"]
