"""Put a task together from its files, whatever they were read from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError
from partition.tasks.config import read_config
from partition.tasks.model import Kind, Task, TaskConfig, Tree
from partition.tasks.text import decode

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

INSTRUCTION = "instruction.md"
CONFIG = "task.toml"


def marks_task(files: Container[str], folders: Container[str]) -> bool:
    """Return whether a directory with these files and folders directly in it is a task.

    It is with ``instruction.md``; and with ``task.toml`` beside ``steps/`` or ``environment/``: a
    multi-step task, or one whose instruction was lost, which `assemble` reports.
    """
    if INSTRUCTION in files:
        return True
    return CONFIG in files and ("steps" in folders or "environment" in folders)


def assemble(identifier: str, where: str, files: Tree) -> Iterator[Task | Fault]:
    """Yield the task that `files` hold, or every fault that keeps them from being one.

    Parameters
    ----------
    identifier
        Id of the task.
    where
        The task's place in messages.
    """
    faults: list[Fault] = []
    config = TaskConfig()
    entry = files.get(CONFIG)
    if entry is None or entry.kind is not Kind.FILE:
        faults.append(_absent(f"{where}/{CONFIG}", files, CONFIG, identifier))
    else:
        try:
            config = read_config(entry.read(), where=f"{where}/{CONFIG}", task=identifier)
        except InputError as error:
            faults.extend(belonging_to(identifier, error))
    needed = [f"steps/{step.name}/{INSTRUCTION}" for step in config.steps] or [INSTRUCTION]
    for path in needed:
        entry = files.get(path)
        if entry is None or entry.kind is Kind.DIRECTORY:
            if config.steps or not faults:
                faults.append(_absent(f"{where}/{path}", files, path, identifier))
        elif entry.kind is Kind.FILE:
            try:
                decode(entry.read(), where=f"{where}/{path}", task=identifier)
            except InputError as error:
                faults.extend(belonging_to(identifier, error))
    if faults:
        yield from faults
    else:
        yield Task(id=identifier, where=where, files=files, config=config)


def belonging_to(identifier: str, error: InputError) -> Iterator[Fault]:
    """Yield the faults of an error as those of one task."""
    return (replace(fault, task=identifier) for fault in error.faults)


def _absent(where: str, files: Tree, path: str, identifier: str) -> Fault:
    entry = files.get(path)
    what = "is missing" if entry is None else f"is a {entry.kind}, not a regular file"
    return Fault(where=where, what=what, hint="every Harbor task has this file", task=identifier)
