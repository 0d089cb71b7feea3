"""Resources of tasks that share a snapshot: whoever builds it first decides, so all ask for the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.tasks.assembly import CONFIG
from partition.tasks.config import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.environments.census import Resources
    from partition.tasks.model import Task

NAMES = ("cpus", "memory_mb", "storage_mb", "gpus")
DEPRECATED = {"memory_mb": "memory", "storage_mb": "storage"}
"""Older keys of ``[environment]`` that say the same as text."""


def most(wishes: Iterable[Resources]) -> Resources:
    """Return the greatest value of each resource; None where nobody names one."""
    columns = zip(*wishes, strict=True)
    cpus, memory, storage, gpus = (
        max((value for value in column if value is not None), default=None) for column in columns
    )
    return (cpus, _whole(memory), _whole(storage), _whole(gpus))


def resource_changes(task: Task, wanted: Resources) -> dict[tuple[str, ...], float | str]:
    """Return what to set in task.toml so that the task asks for `wanted`, by path.

    What it asks for already stays as it is written, and a deprecated key stays the key.
    """
    own = task.config.environment.resources
    changed = {
        name: value
        for name, value, before in zip(NAMES, wanted, own, strict=True)
        if value is not None and value != before
    }
    entry = task.files.get(CONFIG)
    if not changed or entry is None:
        return {}
    said = document_of(entry.read()).get("environment", {})
    changes: dict[tuple[str, ...], float | str] = {}
    for name, value in changed.items():
        number = int(value) if float(value).is_integer() else value
        old = DEPRECATED.get(name)
        if old is not None and old in said:
            changes["environment", old] = f"{number}M"
        if old not in said or name in said:
            changes["environment", name] = number
    return changes


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
