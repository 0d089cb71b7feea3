"""One attempt at an output: survey the dataset, make the images, write every task."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, TYPE_CHECKING

from partition.environments.snapshot import content_key
from partition.errors import Fault, InputError
from partition.plan.document import digest_of
from partition.rewrite.folding import Folding, Part, Shared
from partition.rewrite.hazards import Mates
from partition.rewrite.manifest import Reason
from partition.rewrite.output.target import Form
from partition.rewrite.output.writers import FoldersWriter, RowsWriter
from partition.rewrite.partial import ChunkRecord, record_path
from partition.rewrite.resources import most
from partition.rewrite.survey import Gathered, Survey, Surveyed
from partition.rewrite.tally import Tally
from partition.rewrite.union import shared_image, with_payloads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from partition.plan.document import Environment, Plan
    from partition.rewrite.manifest import Channel, TaskRecord
    from partition.rewrite.output.target import Target
    from partition.rewrite.output.writers import Writer
    from partition.rewrite.partial import Partial, State
    from partition.rewrite.pool import Pool
    from partition.rewrite.progress import Progress
    from partition.tasks.dataset import Dataset
    from partition.tasks.piece import Piece

_PIECES = 48
_BYTES = 16 << 20
"""A chunk holds this many pieces, fewer where they hold more bytes than this together."""

_PAYLOADS = 32 << 20
_ALL_PAYLOADS = 4 << 30
"""Bytes of set-ups that an image may hold, and that all copies of its folder may hold together."""


@dataclass(kw_only=True)
class Attempt:
    """What the survey found, and what was written after it.

    Parameters
    ----------
    key
        Digest of everything that a written task depends on beside its source.
    spool
        What the survey found of each chunk, in order.
    """

    plan: Plan
    dataset: Dataset
    partial: Partial
    pool: Pool
    channel: Channel
    writer: Writer
    shared: dict[str, Shared]
    assignment: Mapping[str, str]
    known: Mapping[str, tuple[Fault, ...]]
    key: str
    spool: IO[bytes]
    chunks: int
    faults: tuple[Fault, ...]
    tally: Tally = field(default_factory=Tally)
    refused: dict[str, list[Reason]] = field(default_factory=dict)
    """Refusals that only writing found."""
    payloads: list[tuple[str, str, int, str]] = field(default_factory=list)

    @property
    def existing(self) -> frozenset[str]:
        """Return the names of the plan's snapshots that exist."""
        return frozenset(item.snapshot for item in self.plan.environments if item.exists)

    @property
    def job(self) -> Folding:
        """Return the job of the second pass."""
        return Folding(
            writer=self.writer,
            attempt=self.key,
            channel=self.channel,
            shared=self.shared,
            assignment=self.assignment,
            refused=self.known,
        )

    def write(self, progress: Progress) -> None:
        """Write every task that was not written by an earlier run under the same key."""
        job = self.job
        self.tally = Tally()
        with progress("rewriting tasks", self.dataset.size) as tick:
            for record in self.pool.run(job, self.parts()):
                found = {*record.refused}
                for task in record.tasks:
                    self.tally.add(task)
                    if task.task in found:
                        self.refused[task.task] = task.refused
                self.payloads += record.payloads
                tick(len(record.tasks))

    def learned(self, state: State) -> State:
        """Return the state with what writing found out: more refusals, and what the images must hold."""
        refused = dict(state.refused)
        wanted: dict[str, dict[str, tuple[int, list[str]]]] = {}
        for environment, digest, size, task in self.payloads:
            wanted.setdefault(environment, {}).setdefault(digest, (size, []))[1].append(task)
        payloads = {}
        for environment, found in sorted(wanted.items()):
            limit = min(_PAYLOADS, _ALL_PAYLOADS // max(1, self.tally.folded[environment]))
            kept, total = [], 0
            for digest, (size, tasks) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
                total += size
                if total <= limit:
                    kept.append(digest)
                    continue
                what = (
                    f"its set-up takes {size:,} bytes, and the image would hold more than {limit:,} of such"
                )
                reason = Reason(where=task_where(tasks[0]), what=what, hint="use --channel setup-files")
                refused |= {task: [reason] for task in tasks}
            payloads[environment] = sorted(kept)
        refused |= self.refused
        return state.model_copy(update={"refused": dict(sorted(refused.items())), "payloads": payloads})

    def records(self) -> Iterator[ChunkRecord]:
        """Yield what was written, in order, read from the disk."""
        for number in range(self.chunks):
            data = record_path(self.partial.folder, number).read_bytes()
            yield ChunkRecord.model_validate_json(data)

    def tasks(self) -> Iterator[TaskRecord]:
        """Yield the record of each task, in order."""
        return chain.from_iterable(record.tasks for record in self.records())

    def digests(self) -> Iterator[str]:
        """Yield the digest of each written task, in order."""
        return chain.from_iterable(record.digests for record in self.records())

    def kept(self) -> Iterator[list[bool]]:
        """Yield for each chunk which of its pieces are written, as the survey found."""
        self.spool.seek(0)
        for _ in range(self.chunks):
            tasks = pickle.load(self.spool)  # noqa: S301 - nobody else can open this file
            yield [task is not None for task in tasks]

    def parts(self) -> Iterator[Part]:
        """Yield the dataset a chunk at a time, with what the survey found."""
        self.spool.seek(0)
        for number, pieces in enumerate(chunks(self.dataset)):
            yield Part(number, pieces, pickle.load(self.spool))  # noqa: S301 - nobody else can open this file


def begin(
    plan: Plan,
    state: State,
    dataset: Dataset,
    partial: Partial,
    pool: Pool,
    *,
    spool: IO[bytes],
    target: Target,
    channel: Channel,
    progress: Progress,
) -> Attempt:
    """Survey the dataset and make the images: everything that writing needs.

    Parameters
    ----------
    spool
        A file that nobody else can open, for what is found; it is used up to the next survey.

    Raises
    ------
    InputError
        The dataset is not the one that the plan was made from; says which tasks are missing where.
    """
    assignment = {task: entry.environment for task, entry in plan.assignment.items()}
    known: dict[str, tuple[Fault, ...]] = {
        each.task: (Fault(where=task_where(each.task), what=each.reason),) for each in plan.refused
    }
    known |= {
        task: tuple(Fault(where=each.where, what=each.what, hint=each.hint) for each in reasons)
        for task, reasons in state.refused.items()
    }
    environments = {item.name: item for item in plan.environments}
    job = Survey(environments, {task: name for task, name in assignment.items() if task not in known})
    spool.seek(0)
    spool.truncate()
    gathered: dict[str, Gathered] = {}
    found = _Found()
    with progress("reading tasks", dataset.size) as tick:
        for number, survey in enumerate(pool.run(job, chunks(dataset))):
            pickle.dump(tuple(found.add(item) for item in survey.items), spool)
            for name, each in survey.gathered.items():
                gathered[name] = gathered.get(name, Gathered()).with_all(each)
            found.chunks = number + 1
            tick(len(survey.items))
    found.check(plan, dataset)
    shared = {
        name: _shared(environments[name], each, state, partial) for name, each in sorted(gathered.items())
    }
    folder = partial.folder
    return Attempt(
        plan=plan,
        dataset=dataset,
        partial=partial,
        pool=pool,
        channel=channel,
        writer=FoldersWriter(folder) if target.form is Form.DIRECTORY else RowsWriter(folder),
        shared=shared,
        assignment=assignment,
        known=known,
        key=_key(plan, channel, shared),
        spool=spool,
        chunks=found.chunks,
        faults=tuple(found.faults),
    )


def chunks(dataset: Dataset) -> Iterator[tuple[Piece, ...]]:
    """Yield the dataset's pieces a chunk at a time; the same dataset gives the same chunks."""
    held: list[Piece] = []
    size = 0
    for piece in dataset.pieces():
        if held and (len(held) == _PIECES or size + piece.size > _BYTES):
            yield tuple(held)
            held, size = [], 0
        held.append(piece)
        size += piece.size
    if held:
        yield tuple(held)


def task_where(task: str) -> str:
    """Return how messages name a task that is not at hand."""
    return f"task {task}"


@dataclass(slots=True)
class _Found:
    """What a survey came across, in the dataset's order."""

    chunks: int = 0
    places: dict[str, str] = field(default_factory=dict)
    digests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, item: Surveyed | tuple[Fault, ...]) -> Surveyed | None:
        """Note one piece; return the task, unless there is none or its id was used before."""
        if not isinstance(item, Surveyed):
            self.faults += item
            return None
        if item.id in self.places:
            what = f"the task id {item.id!r} was used before, by {self.places[item.id]}"
            self.faults.append(
                Fault(where=item.where, what=what, hint="give it an id of its own", task=item.id)
            )
            return None
        self.places[item.id] = item.where
        self.digests.append((item.id, item.digest))
        return item

    def check(self, plan: Plan, dataset: Dataset) -> None:
        """Raise unless the plan accounts for exactly these tasks."""
        planned = {*plan.assignment, *(each.task for each in plan.refused)}
        faults = [
            Fault(where=self.places[task], what="is not in the plan", hint="propose again", task=task)
            for task in sorted(self.places.keys() - planned)
        ]
        unreadable = {fault.task for fault in self.faults}
        faults += [
            Fault(where=f"{dataset.source}: {task}", what="is in the plan, and cannot be read", task=task)
            if task in unreadable
            else Fault(
                where=f"{dataset.source}: {task}", what="is in the plan, and not in the dataset", task=task
            )
            for task in sorted(planned - self.places.keys())
        ]
        hint = "propose a plan from this dataset, or name the one that the plan was made from"
        if faults:
            raise InputError(
                f"the plan was made from another dataset: {plan.inputs.dataset}",
                hint=hint,
                faults=[*faults, *self.faults],
            )
        if digest_of(self.digests) != plan.inputs.digest:
            raise InputError(
                f"{plan.inputs.dataset} had the same tasks with other files when the plan was made",
                hint=hint,
            )


def _shared(planned: Environment, gathered: Gathered, state: State, partial: Partial) -> Shared:
    image = shared_image(planned, gathered.beginning or (), gathered.workdirs, apt=gathered.apt)
    digests = state.payloads.get(planned.name, [])
    return Shared(
        planned=planned,
        image=image,
        tree=with_payloads(image.tree, {digest: partial.payload(digest) for digest in digests}),
        mates=Mates(
            tasks=gathered.tasks, families=tuple(sorted(planned.families)), baked=tuple(image.beginning)
        ),
        payloads=frozenset(digests),
        resources=most(gathered.wishes) if len(gathered.wishes) > 1 else None,
    )


def _key(plan: Plan, channel: Channel, shared: Mapping[str, Shared]) -> str:
    digest = hashlib.sha256(repr((plan.envfold_version, channel)).encode())
    for name, each in sorted(shared.items()):
        digest.update(repr((name, content_key(each.tree), each.image.folders, each.resources)).encode())
        digest.update(repr([entry.mode for entry in each.tree.entries]).encode())
    for task, entry in sorted(plan.assignment.items()):
        digest.update(f"{task}\0{entry.environment}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
