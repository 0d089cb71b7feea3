"""Two renderings of one dataset, task by task: the artifact is stale, or its patcher is the driver.

Rule
----
Over the tasks that both renderings have, let *a* be the distinct snapshots of the artifact and *f* those of
the fresh rendering. With ``a >= 2``:

- *stale* where ``2 f <= a``: regenerating the artifact would at least halve its snapshots;
- *patcher* otherwise: today's patcher renders (nearly) as many, so that regenerating alone does not help.

With fewer than two snapshots in the artifact, or no task in common, the comparison decides nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver
from partition.environments.drivers import Sketcher
from partition.environments.outline import DRIVERS
from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.tasks.model import Task

_EXAMPLES = 5


class Verdict(StrEnum):
    """What the comparison says about the artifact."""

    STALE = "stale"
    """Regenerating would do."""
    PATCHER = "patcher"
    """The fresh rendering has (nearly) as many snapshots: the patcher itself must change."""
    UNDECIDED = "undecided"
    """Nothing to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One task whose two environments differ.

    Parameters
    ----------
    task
        Its id.
    drivers
        Drivers whose parts differ; "comments and whitespace only" where no other does.
    where, against
        The two Dockerfiles.
    """

    task: str
    drivers: tuple[Driver, ...]
    where: str
    against: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two renderings, task by task.

    Parameters
    ----------
    common, identical
        Tasks with a snapshot in both, and those of them with the same one.
    drivers
        (driver, tasks) of those that differ; a task may count for several drivers.
    only_artifact, only_fresh
        Ids of tasks that one rendering alone has, sorted.
    artifact_snapshots, fresh_snapshots
        Distinct snapshots over the common tasks.
    verdict
        By the rule above.
    differences
        The first few, by task id.
    faults
        Of both renderings.
    """

    common: int
    identical: int
    drivers: tuple[tuple[Driver, int], ...]
    only_artifact: tuple[str, ...]
    only_fresh: tuple[str, ...]
    artifact_snapshots: int
    fresh_snapshots: int
    verdict: Verdict
    differences: tuple[Difference, ...]
    faults: tuple[Fault, ...]


@dataclass(slots=True)
class _Rendering:
    keys: dict[str, str] = field(default_factory=dict)
    parts: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def compare(artifact: Iterable[Task | Fault], fresh: Iterable[Task | Fault]) -> Comparison:
    """Compare the uploaded `artifact` with a `fresh` rendering, which may be a sample of its tasks."""
    sketcher = Sketcher()
    one, other = _read(artifact, sketcher), _read(fresh, sketcher)
    common = sorted(one.keys.keys() & other.keys.keys())
    differing = [task for task in common if one.keys[task] != other.keys[task]]
    counts: Counter[Driver] = Counter()
    differences: list[Difference] = []
    for task in differing:
        drivers = _drivers(one.parts[one.keys[task]], other.parts[other.keys[task]])
        counts.update(drivers)
        if len(differences) < _EXAMPLES:
            differences.append(
                Difference(task=task, drivers=drivers, where=one.places[task], against=other.places[task])
            )
    before = len({one.keys[task] for task in common})
    after = len({other.keys[task] for task in common})
    return Comparison(
        common=len(common),
        identical=len(common) - len(differing),
        drivers=tuple((driver, counts[driver]) for driver in DRIVERS if counts[driver]),
        only_artifact=tuple(sorted(one.keys.keys() - other.keys.keys())),
        only_fresh=tuple(sorted(other.keys.keys() - one.keys.keys())),
        artifact_snapshots=before,
        fresh_snapshots=after,
        verdict=verdict_of(before, after),
        differences=tuple(differences),
        faults=(*one.faults, *other.faults),
    )


def verdict_of(artifact: int, fresh: int) -> Verdict:
    """Return the verdict for the snapshots that either rendering has over their common tasks."""
    if artifact < 2:
        return Verdict.UNDECIDED
    return Verdict.STALE if 2 * fresh <= artifact else Verdict.PATCHER


def _read(items: Iterable[Task | Fault], sketcher: Sketcher) -> _Rendering:
    rendering = _Rendering()
    for item in items:
        if isinstance(item, Fault):
            rendering.faults.append(item)
            continue
        try:
            key, _ = sketcher.key(item)
            if key is None:
                continue
            if key not in rendering.parts:
                rendering.parts[key] = sketcher.sketch(item, key).outline.parts
        except InputError as error:
            rendering.faults += error.faults or [Fault(where=item.where, what=error.message, task=item.id)]
            continue
        rendering.keys[item.id] = key
        rendering.places[item.id] = (
            item.where if item.spec is not None else f"{item.where}/environment/Dockerfile"
        )
    return rendering


def _drivers(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> tuple[Driver, ...]:
    differing = tuple(
        driver
        for driver, left, right in zip(DRIVERS, one, other, strict=True)
        if left != right and driver is not Driver.LAYOUT
    )
    return differing or (Driver.LAYOUT,)
