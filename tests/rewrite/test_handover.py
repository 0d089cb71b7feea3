"""What the first pass reads of a Dockerfile reaches the second whole, and without the task's files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dockerfiles import CASES, PROGRAMS, SPLIT, program

from partition.rewrite.handover import handed_over, taken_over
from partition.rewrite.program import Program
from partition.rewrite.split import program_of
from partition.tasks.model import Entry, Task, Tree


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_arrives_as_it_left(name: str) -> None:
    task = SPLIT["task_of"](CASES / name)
    assert taken_over(handed_over(program(name), task), task) == program(name)


def task_with(data: bytes, where: str) -> Task:
    files = {
        "environment/Dockerfile": b"FROM debian:12\nWORKDIR /w\nCOPY data /w/\n",
        "environment/data": data,
    }
    entries = tuple(Entry(path=path, source=held, size=len(held)) for path, held in files.items())
    return Task(id=where, where=where, files=Tree(entries))


def test_files_stay_behind_and_a_task_with_equal_ones_takes_over_for_its_own() -> None:
    one, other = task_with(b"secret" * 999, "one"), task_with(bytes(bytearray(b"secret" * 999)), "other")
    read = program_of(one)
    assert isinstance(read, Program)
    data = handed_over(read, one)
    assert b"secret" not in data
    assert b"one/" not in data
    found = taken_over(data, other)
    assert found == replace(read, where="other/environment/Dockerfile")
    assert found.steps[-1].entry.source is other.files.by_path["environment/data"].source
