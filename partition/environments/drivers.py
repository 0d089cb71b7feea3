"""Why a dataset has so many environments: drivers, and how many snapshots folding each would leave.

Definitions
-----------
A snapshot's content (the Dockerfile and every other file that the content key covers) is cut into pieces,
each of one driver (`partition.environments.pieces`). *Folding* a driver cuts its pieces out.

- *now*: distinct contents; equal to the number of content keys.
- *alone*: distinct contents after cutting out one driver's pieces, everything else byte for byte. For
  "comments and whitespace only", which is in every piece, it is the number of distinct tuples of the other
  drivers' parts, each part in normal form and in file order, whatever the order between drivers.
- *cumulative*: distinct contents after cutting out the driver and all before it. What is left for one
  driver more depends on nothing but what was left before, so the numbers never rise; the last is 1.
- *normalised*: the same where comments and white space are folded first: distinct tuples of the parts of
  the drivers still left. It shows the fall where a comment names the task in every Dockerfile.
"""

from __future__ import annotations

import posixpath
from collections import Counter, OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver
from partition.environments.dockerfile import parse_dockerfile
from partition.environments.identity import identify
from partition.environments.instruction import DockerfileError
from partition.environments.links import resolve
from partition.environments.outline import (
    DRIVERS,
    Outline,
    digest_of,
    digest_of_files,
    outline_of,
    with_context,
)
from partition.environments.pieces import pieces_of, pieces_of_spec
from partition.environments.requirement import canonical_requirement
from partition.environments.snapshot import content_files
from partition.errors import Fault, InputError
from partition.tasks.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.tasks.model import Task

_DOCKERFILE = "Dockerfile"
_REMEMBERED = 4096
"""Distinct Dockerfiles whose outline is kept at hand."""

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One piece or file that not every snapshot has.

    Parameters
    ----------
    where
        Where it is seen first: ``tasks/foo/environment/Dockerfile:12``.
    text
        The piece on one line, or the file's path.
    snapshots
        How many snapshots have it.
    """

    where: str
    text: str
    snapshots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverEffect:
    """What one driver does to the number of snapshots.

    Parameters
    ----------
    driver
        Which.
    values
        Distinct parts among the snapshots; 1 where it does not vary.
    varying
        Snapshots whose part is not the most frequent one.
    alone
        Snapshots left if it alone were folded.
    cumulative
        Snapshots left if it and all before it were folded.
    normalised
        The same if comments and white space had been folded first.
    examples
        The most frequent pieces that not every snapshot has.
    """

    driver: Driver
    values: int
    varying: int
    alone: int
    cumulative: int
    normalised: int
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a dataset needs that many snapshots.

    Parameters
    ----------
    tasks
        Tasks read, faulty ones included.
    explained
        Tasks whose snapshot is among those explained.
    snapshots
        Distinct snapshots explained; of a spec table distinct rows.
    specs
        Whether the tasks are rows of a spec table: one environment per distinct row.
    drivers
        In the order in which they are folded.
    apart
        (reason, tasks) of those that have no snapshot to fold.
    faults
        Tasks that could not be read or parsed.
    """

    tasks: int
    explained: int
    snapshots: int
    specs: bool
    drivers: tuple[DriverEffect, ...]
    apart: tuple[tuple[str, int], ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Sketch:
    """An environment reduced to what comparing it takes.

    Parameters
    ----------
    key
        Equal for equal contents.
    outline
        Digests by driver.
    files
        (path, digest) of the files beside the Dockerfile.
    where
        The Dockerfile, or the row.
    """

    key: str
    outline: Outline
    files: tuple[tuple[str, bytes], ...]
    where: str


class Sketcher:
    """Turns tasks into sketches, parsing each distinct Dockerfile once."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Outline | DockerfileError] = OrderedDict()

    def key(self, task: Task) -> tuple[str | None, str]:
        """Return the snapshot key of a task, or None and why it has no snapshot of its own to fold.

        Raises
        ------
        InputError
            Harbor could not load the task.
        """
        use = identify(task).environment
        return use.key, "" if use.reason is None else use.reason.value

    def sketch(self, task: Task, key: str) -> Sketch:
        """Return the sketch of a task with a snapshot.

        Raises
        ------
        InputError
            Its Dockerfile cannot be read or parsed; every fault names the task.
        """
        if task.spec is not None:
            canonical = replace(task.spec, pip=tuple(sorted(map(canonical_requirement, task.spec.pip))))
            return Sketch(key, outline_of(pieces_of_spec(task.spec, canonical)), (), task.where)
        where = f"{task.where}/environment/{_DOCKERFILE}"
        files = content_files(task.environment)
        try:
            # a link is followed, as Harbor's look for a Dockerfile does
            entry = resolve(task.files, f"environment/{_DOCKERFILE}")
            data = entry.read() if entry is not None else b""
            context, each = digest_of_files((path, entry) for path, entry in files if path != _DOCKERFILE)
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            fault = Fault(where=where, what=what, hint="check its permissions", task=task.id)
            raise InputError(str(fault), faults=[fault]) from error
        return Sketch(key, with_context(self._outline(data, where, task.id), context), each, where)

    def _outline(self, data: bytes, where: str, task: str) -> Outline:
        text = decode(data, where=where, task=task)
        digest = digest_of([text])
        known = self._known.get(digest)
        if known is None:
            try:
                known = outline_of(pieces_of(text, parse_dockerfile(text, where=_DOCKERFILE)))
            except DockerfileError as error:
                known = error
            self._known[digest] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        if isinstance(known, DockerfileError):
            faults = [_at(fault, where, task) for fault in known.faults]
            raise DockerfileError(f"{where}: {faults[0].what}", hint=known.hint, faults=faults)
        return known


def explain(tasks: Iterable[Task | Fault]) -> Explanation:
    """Say which drivers make the snapshots of `tasks` differ.

    Parameters
    ----------
    tasks
        Read once, in any order; only digests are kept of each.
    """
    tally = _Tally()
    for item in tasks:
        tally.take(item)
    return tally.result()


@dataclass(slots=True)
class _Seen:
    snapshots: int
    where: str
    text: str
    first: bytes
    differs: bool = False


@dataclass(slots=True)
class _Tally:
    sketcher: Sketcher = field(default_factory=Sketcher)
    tasks: int = 0
    specs: bool = False
    keys: Counter[str] = field(default_factory=Counter)
    refused: dict[str, list[Fault]] = field(default_factory=dict)
    apart: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    parts: tuple[Counter[bytes], ...] = field(default_factory=lambda: tuple(Counter() for _ in DRIVERS))
    alone: tuple[set[bytes], ...] = field(default_factory=lambda: tuple(set() for _ in DRIVERS))
    cumulative: tuple[set[bytes], ...] = field(default_factory=lambda: tuple(set() for _ in DRIVERS))
    normalised: tuple[set[bytes], ...] = field(default_factory=lambda: tuple(set() for _ in DRIVERS))
    seen: dict[tuple[Driver, bytes], _Seen] = field(default_factory=dict)

    def take(self, item: Task | Fault) -> None:
        self.tasks += 1
        if isinstance(item, Fault):
            self.faults.append(item)
            return
        self.specs = self.specs or item.spec is not None
        try:
            key, reason = self.sketcher.key(item)
            if key is None:
                self.apart[reason] += 1
            elif key in self.keys:
                self.keys[key] += 1
            else:
                sketch = self.sketcher.sketch(item, key)
                self.keys[key] = 1
                self.add(sketch)
        except InputError as error:
            self.faults += error.faults or [Fault(where=item.where, what=error.message, task=item.id)]

    def add(self, sketch: Sketch) -> None:
        outline = sketch.outline
        for index in range(len(DRIVERS)):
            self.parts[index][outline.parts[index]] += 1
            self.alone[index].add(outline.alone[index])
            self.cumulative[index].add(outline.cumulative[index])
            self.normalised[index].add(digest_of(part.hex() for part in outline.parts[index + 1 : -1]))
        # a piece that one snapshot has twice counts once
        for segment in {(each.driver, each.digest): each for each in reversed(outline.segments)}.values():
            where = f"{sketch.where}:{segment.line}" if not self.specs else sketch.where
            self.show(segment.driver, segment.digest, where, segment.text, segment.digest)
        folder = posixpath.dirname(sketch.where)
        for path, digest in sketch.files:
            self.show(Driver.FILES, path.encode("utf-8", "surrogateescape"), f"{folder}/{path}", path, digest)

    def show(self, driver: Driver, key: bytes, where: str, text: str, digest: bytes) -> None:
        seen = self.seen.get((driver, key))
        if seen is None:
            self.seen[driver, key] = _Seen(1, where, text, digest)
            return
        seen.snapshots += 1
        seen.where = min(seen.where, where)
        seen.differs = seen.differs or digest != seen.first

    def result(self) -> Explanation:
        examples: dict[Driver, list[_Seen]] = {driver: [] for driver in DRIVERS}
        for (driver, _), seen in self.seen.items():
            if seen.snapshots < len(self.keys) or seen.differs:
                examples[driver].append(seen)
        effects = tuple(
            DriverEffect(
                driver=driver,
                values=len(self.parts[index]),
                varying=len(self.keys) - max(self.parts[index].values(), default=0),
                alone=len(self.alone[index]),
                cumulative=len(self.cumulative[index]),
                normalised=len(self.normalised[index]),
                examples=_chosen(examples[driver]),
            )
            for index, driver in enumerate(DRIVERS)
        )
        return Explanation(
            tasks=self.tasks,
            explained=sum(self.keys.values()),
            snapshots=len(self.keys),
            specs=self.specs,
            drivers=effects,
            apart=tuple(sorted(self.apart.items())),
            faults=tuple(self.faults),
        )


def _chosen(seen: list[_Seen]) -> tuple[Example, ...]:
    """Return the most frequent, files that differ from snapshot to snapshot first."""
    ordered = sorted(seen, key=lambda each: (not each.differs, -each.snapshots, each.where, each.text))
    return tuple(
        Example(
            where=each.where,
            text=f"{each.text} (contents differ)" if each.differs else each.text,
            snapshots=each.snapshots,
        )
        for each in ordered[:_EXAMPLES]
    )


def _at(fault: Fault, where: str, task: str) -> Fault:
    return replace(fault, where=where + fault.where.removeprefix(_DOCKERFILE), task=task)
