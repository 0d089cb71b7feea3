"""Tasks with equal features collapse into one class."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from partition.features.model import TaskClass, TaskFeatures

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = tuple(field.name for field in fields(TaskFeatures))


def classes_of(features: Iterable[TaskFeatures]) -> tuple[TaskClass, ...]:
    """Return the classes of `features`, sorted by what they share; the order of the tasks is immaterial.

    `task`, `commit`, `copied` and `sources` name the single task and do not tell classes apart; nor does
    `created_at`, of which a class keeps the latest.
    """
    members: defaultdict[TaskFeatures, list[tuple[str, str]]] = defaultdict(list)
    for each in features:
        members[_shared(each)].append((each.task, each.created_at or ""))
    classes = (
        TaskClass(
            tasks=tuple(sorted(task for task, _ in group)),
            features=replace(shared, created_at=max(date for _, date in group) or None),
        )
        for shared, group in members.items()
    )
    return tuple(sorted(classes, key=_order))


def _shared(features: TaskFeatures) -> TaskFeatures:
    return replace(features, task="", commit=None, copied=(), sources=(), created_at=None)


def _order(task_class: TaskClass) -> tuple[str, str, str, str, tuple[str, ...]]:
    shared = task_class.features
    rest = repr(tuple(getattr(shared, name) for name in _NAMES))
    return (shared.family, shared.version, shared.python or "", rest, task_class.tasks)
