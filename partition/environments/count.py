"""What counting a dataset says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.caps import Usage

if TYPE_CHECKING:
    from partition.environments.identity import Role, Unfoldable
    from partition.environments.normal import Difference
    from partition.environments.snapshot import Generation
    from partition.errors import Fault

EXAMPLES = 20
"""Examples kept of each kind of finding; the numbers are always complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """Tasks that ask the same resources of one snapshot."""

    cpus: float | None
    memory_mb: int | None
    storage_mb: int | None
    gpus: int | None
    tasks: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCollision:
    """One snapshot asked for with different resources: whoever builds it first decides for all.

    Parameters
    ----------
    snapshot
        Its name.
    tasks
        Tasks that use it.
    resources
        The different wishes, most tasks first.
    """

    snapshot: str
    tasks: int
    resources: tuple[ResourceUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseDuplicate:
    """A task whose environment differs from another's only in a way that no build can tell."""

    task: str
    same_as: str
    difference: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotGroup:
    """One snapshot and how many tasks share it."""

    snapshot: str
    role: Role
    tasks: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshared:
    """A task whose environment cannot be folded, and why."""

    task: str
    reason: Unfoldable


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something found in many tasks.

    Parameters
    ----------
    count
        Tasks (or snapshots) it was found in.
    files, size
        Files concerned, and their bytes.
    examples
        (task, path) of the first ones.
    """

    count: int = 0
    files: int = 0
    size: int = 0
    examples: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountResult:
    """What Harbor would build for a dataset, and what the number is made of.

    Parameters
    ----------
    key
        Generation of the snapshot key.
    tasks
        Tasks counted, those that cannot be folded included.
    specs
        Of these, rows of a spec table: nothing of them is rendered yet, and each distinct row counts as the
        one environment that it would be.
    uncounted
        Tasks that could not be read or hashed; `faults` says why.
    snapshots
        Distinct snapshots, sorted by name.
    environment_snapshots
        Those that agents run in.
    verifier_snapshots
        Those that only separate verifiers run in; together with the former they are all.
    separate_verifiers
        Tasks with at least one separate verifier.
    unfoldable
        Tasks whose environment has no snapshot of its own, in the order they were read.
    resource_collisions
        Sorted by snapshot.
    false_duplicates
        Snapshots that normalising would save, by what alone makes them differ.
    false_duplicate_examples, largest
        The first ones; the snapshots with the most tasks.
    broken_scripts
        Scripts that carriage returns keep from running, in environment, solution or tests.
    unseen_context
        Files that ``.dockerignore`` keeps from the image and that are in the key all the same; counted by
        snapshot.
    disk_mb
        Largest storage that a task asks for; None where none does.
    faults
        Everything wrong with the input; a task that Harbor would build all the same is counted too.
    """

    key: Generation
    tasks: int
    specs: int
    uncounted: int
    snapshots: tuple[str, ...]
    environment_snapshots: int
    verifier_snapshots: int
    separate_verifiers: int
    unfoldable: tuple[Unshared, ...]
    resource_collisions: tuple[ResourceCollision, ...]
    false_duplicates: tuple[tuple[Difference, int], ...]
    false_duplicate_examples: tuple[FalseDuplicate, ...]
    largest: tuple[SnapshotGroup, ...]
    broken_scripts: Finding
    unseen_context: Finding
    disk_mb: int | None
    faults: tuple[Fault, ...]

    @property
    def false_duplicates_saved(self) -> int:
        """Snapshots that normalising would save in all."""
        return sum(saved for _, saved in self.false_duplicates)

    def usage(self, existing: frozenset[str] = frozenset()) -> Usage:
        """Return what caps are checked against, beside the organisation's `existing` snapshots."""
        return Usage(snapshots=frozenset(self.snapshots), existing=existing, disk_mb=self.disk_mb)
