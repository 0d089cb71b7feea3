"""Count what a dataset needs, one task at a time, in memory that does not grow with the tasks' files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import TYPE_CHECKING

from partition.environments.context import broken_scripts, unseen_files
from partition.environments.count import (
    EXAMPLES,
    CountResult,
    FalseDuplicate,
    Finding,
    ResourceCollision,
    ResourceUse,
    SnapshotGroup,
    Unshared,
)
from partition.environments.identity import Role, identify, keyed_files
from partition.environments.normal import DOCKERFILE, MOST_TEXT, Difference, normal_forms, read_dockerfile
from partition.environments.snapshot import Generation, snapshot_name
from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from partition.environments.identity import SnapshotUse, TaskIdentity
    from partition.tasks.model import Entry, Task

Resources = tuple[float | None, int | None, int | None, int | None]
"""Cpus, memory in MiB, storage in MiB, gpus; None where a task leaves it to the provider."""


@dataclass(slots=True)
class _Group:
    """What is known of one snapshot."""

    example: str
    environments: int = 0
    verifiers: int = 0
    resources: dict[Resources, tuple[int, str]] = field(default_factory=dict)
    broken: tuple[Fault, ...] = ()

    @property
    def tasks(self) -> int:
        return self.environments + self.verifiers


@dataclass(frozen=True, slots=True)
class _Contents:
    """What one look into a snapshot's directory shows."""

    folder: str
    forms: dict[Difference, bytes]
    unseen: list[tuple[str, Entry]]
    broken: tuple[Fault, ...]


@dataclass(slots=True)
class _Tally:
    """A `Finding` while it grows."""

    count: int = 0
    files: int = 0
    size: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, task: str, paths: list[str], size: int = 0) -> None:
        if not paths:
            return
        self.count += 1
        self.files += len(paths)
        self.size += size
        if len(self.examples) < EXAMPLES:
            self.examples.append((task, paths[0]))

    def finding(self) -> Finding:
        return Finding(count=self.count, files=self.files, size=self.size, examples=tuple(self.examples))


class Census:
    """Add tasks in any number, then ask for the result.

    Parameters
    ----------
    generation
        Which snapshot key to use.
    target
        Provider target that goes into the names.
    """

    def __init__(
        self, *, generation: Generation | str = Generation.CONTENT, target: str | None = None
    ) -> None:
        self._generation = Generation(generation)
        self._target = target
        self._tasks = 0
        self._specs = 0
        self._separate = 0
        self._disk_mb: int | None = None
        self._groups: dict[str, _Group] = {}
        self._unfoldable: list[Unshared] = []
        self._forms: dict[Difference, dict[bytes, str]] = {difference: {} for difference in Difference}
        self._duplicates: list[FalseDuplicate] = []
        self._scripts = _Tally()
        self._unseen = _Tally()
        self._faults: list[Fault] = []
        self._uncounted: set[str] = set()

    def add(self, item: Task | Fault) -> None:
        """Count one task, or note that it could not be read.

        The memory this takes depends on the number of snapshots and findings, not on the task's files.
        """
        if isinstance(item, Fault):
            self._refuse([item])
            return
        try:
            identity = identify(item, generation=self._generation)
            named = {self._name(item, use.key): use for use in identity.uses if use.key is not None}
            new = {
                name: _look_into(item, use, name, self._generation)
                for name, use in named.items()
                if name not in self._groups
            }
            scripts = broken_scripts(item.files)
        except InputError as error:
            self._refuse([replace(fault, task=item.id) for fault in error.faults])
            return
        self._scripts.add(item.id, scripts)
        for name, contents in new.items():
            self._enter(item, name, contents)
        self._count(item, identity)

    def result(self) -> CountResult:
        """Return what was counted so far."""
        groups = sorted(self._groups.items())
        environment = sum(group.environments > 0 for _, group in groups)
        return CountResult(
            key=self._generation,
            tasks=self._tasks,
            specs=self._specs,
            uncounted=len(self._uncounted),
            snapshots=tuple(name for name, _ in groups),
            environment_snapshots=environment,
            verifier_snapshots=len(groups) - environment,
            separate_verifiers=self._separate,
            unfoldable=tuple(self._unfoldable),
            resource_collisions=tuple(
                _collision(name, group) for name, group in groups if len(group.resources) > 1
            ),
            false_duplicates=self._saved(),
            false_duplicate_examples=tuple(self._duplicates),
            largest=_largest(self._groups),
            broken_scripts=self._scripts.finding(),
            unseen_context=self._unseen.finding(),
            disk_mb=self._disk_mb,
            faults=tuple(self._faults),
        )

    def _name(self, task: Task, key: str) -> str:
        return snapshot_name(key, self._target) if task.spec is None else f"spec__{key[:12]}"

    def _refuse(self, faults: Sequence[Fault]) -> None:
        self._faults += faults
        self._uncounted.update(fault.task or fault.where for fault in faults)

    def _enter(self, task: Task, name: str, contents: _Contents) -> None:
        """Note a snapshot that is met for the first time."""
        self._groups[name] = _Group(example=task.id, broken=contents.broken)
        self._unseen.add(
            task.id,
            [f"{contents.folder}/{path}" for path, _ in contents.unseen],
            sum(entry.size for _, entry in contents.unseen),
        )
        twin = None
        for difference, form in contents.forms.items():
            first = self._forms[difference].setdefault(form, task.id)
            if twin is None and first != task.id:
                twin = FalseDuplicate(task=task.id, same_as=first, difference=difference)
        if twin is not None and len(self._duplicates) < EXAMPLES:
            self._duplicates.append(twin)

    def _count(self, task: Task, identity: TaskIdentity) -> None:
        self._tasks += 1
        self._specs += task.spec is not None
        self._separate += bool(identity.verifiers)
        if identity.unfoldable is not None:
            self._unfoldable.append(Unshared(task=task.id, reason=identity.unfoldable))
        counted: set[tuple[str, Resources | None]] = set()
        for use in identity.uses:
            self._disk_mb = max(filter(None, (self._disk_mb, use.config.storage_mb)), default=None)
            if use.key is None:
                continue
            name = self._name(task, use.key)
            group = self._groups[name]
            if (name, None) not in counted:
                counted.add((name, None))
                group.environments += use.role is Role.ENVIRONMENT
                group.verifiers += use.role is Role.VERIFIER
                self._faults += _relocated(group, task, use)
            resources = use.config.resources
            if (name, resources) not in counted:
                counted.add((name, resources))
                number, example = group.resources.get(resources, (0, task.id))
                group.resources[resources] = (number + 1, example)

    def _saved(self) -> tuple[tuple[Difference, int], ...]:
        """Return how many snapshots fewer there are after each difference is removed."""
        left = len(self._groups)
        saved = []
        for difference, forms in self._forms.items():
            saved.append((difference, left - len(forms)))
            left = len(forms)
        return tuple(saved)


def _look_into(task: Task, use: SnapshotUse, name: str, generation: Generation) -> _Contents:
    if task.spec is not None:
        return _Contents(folder="", forms=dict.fromkeys(Difference, name.encode()), unseen=[], broken=())
    files = keyed_files(task, use.folder, generation)
    broken = list(_dockerfile_faults(files))
    unseen: list[tuple[str, Entry]] = []
    try:
        unseen = unseen_files(files)
    except ValueError as error:
        broken.append(Fault(where=".dockerignore", what=str(error), hint="Docker refuses this pattern"))
    # Without files only the image or the directory's name is in the key: nothing there to normalise.
    forms = normal_forms(files) if files else dict.fromkeys(Difference, name.encode())
    return _Contents(folder=use.folder, forms=forms, unseen=unseen, broken=tuple(broken))


def _dockerfile_faults(files: Sequence[tuple[str, Entry]]) -> Sequence[Fault]:
    entry = next((entry for path, entry in files if path == DOCKERFILE), None)
    if entry is None:
        what = "a link, which Harbor leaves out of the key: another Dockerfile gets the same snapshot"
        return (Fault(where=DOCKERFILE, what=what, hint="put the file itself there"),)
    if entry.size >= MOST_TEXT:
        what = f"{entry.size:,} bytes are too many for a Dockerfile"
        return (Fault(where=DOCKERFILE, what=what, hint="copy large files from the context instead"),)
    return read_dockerfile(entry.read()).faults


def _relocated(group: _Group, task: Task, use: SnapshotUse) -> Iterator[Fault]:
    """Yield the faults of a snapshot for one of its tasks: all for the first, one for each other."""
    for fault in group.broken:
        where = f"{task.where}/{use.folder}/{fault.where}"
        if task.id == group.example:
            yield replace(fault, where=where, task=task.id)
        else:
            hint = f"the same file as in {group.example}, where all its faults are listed"
            yield replace(fault, where=where, task=task.id, hint=hint)
            return


def _collision(name: str, group: _Group) -> ResourceCollision:
    wishes = [
        ResourceUse(cpus=cpus, memory_mb=memory, storage_mb=storage, gpus=gpus, tasks=number, example=example)
        for (cpus, memory, storage, gpus), (number, example) in group.resources.items()
    ]
    wishes.sort(key=lambda wish: (-wish.tasks, wish.example))
    return ResourceCollision(snapshot=name, tasks=group.tasks, resources=tuple(wishes))


def _largest(groups: Mapping[str, _Group]) -> tuple[SnapshotGroup, ...]:
    chosen = nsmallest(EXAMPLES, groups.items(), key=lambda item: (-item[1].tasks, item[0]))
    return tuple(
        SnapshotGroup(
            snapshot=name,
            role=Role.ENVIRONMENT if group.environments else Role.VERIFIER,
            tasks=group.tasks,
            example=group.example,
        )
        for name, group in chosen
    )
