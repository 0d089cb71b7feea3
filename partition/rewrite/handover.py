"""A program on its way from the first pass to the second, so that a Dockerfile is read once.

The files that it places stay with the task, which the second pass reads again.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from partition.rewrite.program import Program
    from partition.tasks.model import Task, Tree


def handed_over(program: Program, task: Task) -> bytes:
    """Return a program without its task and the bytes of its files: a task with equal files can take it."""
    stream = io.BytesIO()
    place = program.where.removeprefix(task.where)
    _Pickler(stream, task.environment).dump(replace(program, where=place))
    return stream.getvalue()


def taken_over(data: bytes, task: Task) -> Program:
    """Return what `handed_over` was given; `task` has the same files, and was read by this process."""
    program: Program = _Unpickler(io.BytesIO(data), task.environment).load()
    return replace(program, where=task.where + program.where)


class _Pickler(pickle.Pickler):
    """Writes the path of a file in place of its bytes, or of where they are on disk."""

    def __init__(self, stream: io.BytesIO, files: Tree) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._paths = {id(entry.source): entry.path for entry in files.files()}

    def persistent_id(self, obj: Any) -> str | None:
        return self._paths.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, files: Tree) -> None:
        super().__init__(stream)
        self._files = files

    def persistent_load(self, pid: Any) -> bytes | Path:
        return self._files.by_path[pid].source
