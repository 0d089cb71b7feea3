"""Programs of Dockerfiles: the cases that stand in folders, and those that a test writes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

from partition.rewrite.program import Program
from partition.rewrite.split import program_of
from partition.tasks.model import Entry, Task, Tree

if TYPE_CHECKING:
    from partition.rewrite.union import SharedImage

HERE = Path(__file__).parent
CASES = HERE.parent / "cases" / "dockerfiles"
SPLIT = runpy.run_path(str(HERE / "test_split_cases.py"))
environment = runpy.run_path(str(HERE / "test_union_builds.py"))["environment"]
PROGRAMS = sorted(path.parent.name for path in CASES.glob("*/program.txt"))


def program(name: str) -> Program:
    found = program_of(SPLIT["task_of"](CASES / name))
    assert isinstance(found, Program)
    return found


def written(dockerfile: str, files: dict[str, bytes] | None = None) -> Program:
    """Return the program of a Dockerfile beside some files."""
    contents = {"Dockerfile": dockerfile.encode(), **(files or {})}
    entries = [
        Entry(path=f"environment/{path}", source=data, size=len(data)) for path, data in contents.items()
    ]
    found = program_of(
        Task(id="t", where="t", files=Tree(tuple(sorted(entries, key=lambda each: each.path))))
    )
    assert isinstance(found, Program), found
    return found


def dockerfile_of(image: SharedImage) -> str:
    return image.tree.by_path["Dockerfile"].read().decode()
