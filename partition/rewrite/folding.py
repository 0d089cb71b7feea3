"""The second pass over a dataset: make each task anew, write it, read it back and compare."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError
from partition.rewrite.carried import carried
from partition.rewrite.channel import deliver
from partition.rewrite.compare import differences, unexplained
from partition.rewrite.handover import taken_over
from partition.rewrite.hazards import hazards_of
from partition.rewrite.manifest import Reason, TaskRecord, line
from partition.rewrite.output.writers import Written
from partition.rewrite.partial import ChunkRecord, read_record, record_path
from partition.rewrite.refusal import Refused
from partition.rewrite.resources import resource_changes
from partition.rewrite.setup import setup_of
from partition.rewrite.survey import keys_of
from partition.rewrite.union import left_of
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partition.environments.census import Resources
    from partition.plan.document import Environment
    from partition.rewrite.channel import Delivered
    from partition.rewrite.hazards import Mates
    from partition.rewrite.manifest import Channel
    from partition.rewrite.output.writers import Writer
    from partition.rewrite.program import Program
    from partition.rewrite.setup import Setup
    from partition.rewrite.survey import Surveyed
    from partition.rewrite.union import SharedImage
    from partition.tasks.model import Task, Tree
    from partition.tasks.piece import Piece


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk of the dataset, with what the survey found.

    Parameters
    ----------
    tasks
        None for a piece that is no task or whose id was used before.
    """

    number: int
    pieces: tuple[Piece, ...]
    tasks: tuple[Surveyed | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """One environment as it is written.

    Parameters
    ----------
    planned
        What the plan says of it.
    image
        What is written for it, without payloads.
    tree
        The same with payloads: the ``environment/`` of each of its tasks.
    payloads
        SHA-256 of the set-ups that `tree` holds.
    resources
        What each task asks for; None where they agree.
    """

    planned: Environment
    image: SharedImage
    tree: Tree
    mates: Mates
    payloads: frozenset[str] = frozenset()
    resources: Resources | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A task in its shared environment.

    Parameters
    ----------
    setup
        What its container does before the agent starts.
    notes
        What a reader should know, a sentence each.
    """

    setup: Setup
    delivered: Delivered
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A task as it is to be written."""

    files: Tree
    environment: str | None = None
    reasons: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    payload: tuple[str, int] | None = None


@dataclass(frozen=True)
class Folding:
    """The job of the second pass.

    Parameters
    ----------
    attempt
        Digest of everything here: a part that an earlier run wrote under the same is kept.
    refused
        Reasons known before, by task.
    """

    writer: Writer
    attempt: str
    channel: Channel
    shared: Mapping[str, Shared]
    assignment: Mapping[str, str]
    refused: Mapping[str, tuple[Fault, ...]]

    def __call__(self, part: Part) -> ChunkRecord:
        """Write one part, unless it is there already."""
        known = read_record(self.writer.folder, part.number, self.attempt)
        if known is not None:
            ids = [each.task for each in known.tasks]
            if self.writer.intact(part.number, ids, known.digests):
                return known
        found, made = [], []
        for piece, surveyed in zip(part.pieces, part.tasks, strict=True):
            if surveyed is not None:
                task = read_again(piece, surveyed)
                found.append((task, piece, surveyed))
                made.append(self._make(task, surveyed))
        self.writer.write(
            part.number,
            [
                Written(task.id, piece.name, each.files)
                for (task, piece, _), each in zip(found, made, strict=True)
            ],
        )
        back = self.writer.read(part.number, [task.id for task, _, _ in found])
        faults: list[Fault] = []
        records, digests = [], []
        for (task, _, surveyed), each, (written, digest) in zip(found, made, back, strict=True):
            faults += self._compare(task, each, written)
            records.append(self._record(task, surveyed, each, written))
            digests.append(digest)
        if faults:
            raise InputError(
                f"{len(faults)} differences between source and output have no reason", faults=faults
            )
        record = ChunkRecord(
            attempt=self.attempt,
            tasks=records,
            digests=digests,
            refused=[
                task.id
                for (task, _, surveyed), each in zip(found, made, strict=True)
                if each.reasons and not surveyed.reasons and task.id not in self.refused
            ],
            payloads=[
                (each.environment, *each.payload, task.id)
                for (task, _, _), each in zip(found, made, strict=True)
                if each.environment and each.payload
            ],
        )
        path = record_path(self.writer.folder, part.number)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, line(record))
        return record

    def folded(self, task: Task, surveyed: Surveyed) -> Folded | Refused:
        """Return the task in its shared environment, or every reason why it keeps its own."""
        reasons = surveyed.reasons or self.refused.get(task.id, ())
        name = self.assignment.get(task.id)
        if reasons or name is None:
            return Refused(reasons=reasons)
        try:
            made = fold(task, taken_over(surveyed.program, task), self.shared[name], self.channel)
        except InputError as error:
            made = Refused(reasons=error.faults or (Fault(where=task.where, what=error.message),))
        if isinstance(made, Refused):
            return Refused(reasons=tuple(replace(each, task=task.id) for each in made.reasons))
        return made

    def _make(self, task: Task, surveyed: Surveyed) -> _Made:
        made = self.folded(task, surveyed)
        if isinstance(made, Refused):
            return _Made(files=task.files, reasons=made.reasons)
        payload = made.delivered.payload
        return _Made(
            files=made.delivered.files,
            environment=self.assignment[task.id],
            notes=made.notes,
            payload=None if payload is None else self._keep(payload),
        )

    def _keep(self, payload: bytes) -> tuple[str, int]:
        """Put a set-up beside the output, where the image that must hold it is made from it."""
        digest = hashlib.sha256(payload).hexdigest()
        path = self.writer.folder / "payload" / digest
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            write_atomically(path, payload)
        return digest, len(payload)

    def _compare(self, task: Task, made: _Made, written: Task) -> Sequence[Fault]:
        if written.id != task.id:
            what = f"read back, its id is {written.id!r}"
            return [Fault(where=task.where, what=what, hint="rename the task", task=task.id)]
        if made.environment is None:
            return differences(task.files, written.files, task=task.id, where=task.where)
        return unexplained(
            task.files,
            written.files,
            self.shared[made.environment].tree,
            channel=self.channel,
            task=task.id,
            where=task.where,
        )

    def _record(self, task: Task, surveyed: Surveyed, made: _Made, written: Task) -> TaskRecord:
        new, _, _ = keys_of(written)
        return TaskRecord(
            task=task.id,
            environment=made.environment,
            channel=self.channel if made.environment else None,
            old=surveyed.keys,
            new=new,
            refused=[Reason(where=each.where, what=each.what, hint=each.hint) for each in made.reasons],
            notes=[*made.notes],
        )


def fold(task: Task, program: Program, shared: Shared, channel: Channel) -> Folded | Refused:
    """Return the task in its shared environment, or every reason why it cannot be there.

    Parameters
    ----------
    program
        What the task does beyond what the plan's environment has; see `Programs`.
    """
    left = left_of(program, shared.image)
    if isinstance(left, Refused):
        return left
    hazards = hazards_of(task, left, shared.planned, shared.mates)
    if hazards.refusals:
        return Refused(reasons=hazards.refusals)
    own = tuple(key for key, _ in task.config.environment.env)
    later = carried(left.environment, own=own, provided=shared.image.environment)
    setup = setup_of(left, shared.image.folders, hidden=own, later=later)
    if isinstance(setup, Refused):
        return setup
    delivered = deliver(
        task,
        setup,
        left,
        shared.tree,
        channel,
        provided=shared.image.environment,
        more=resource_changes(task, shared.resources) if shared.resources else {},
        whole=program,
    )
    if isinstance(delivered, Refused):
        return delivered
    return Folded(setup=setup, delivered=delivered, notes=(*hazards.notes, *delivered.notes))


def read_again(piece: Piece, surveyed: Surveyed) -> Task:
    """Return the task that was surveyed.

    Raises
    ------
    InputError
        It is another one by now.
    """
    (task,) = piece.read()
    if isinstance(task, Fault) or task.digest != surveyed.digest:
        raise InputError(
            f"{surveyed.where} changed while the dataset was rewritten",
            hint="run again when nothing writes to the dataset",
        )
    return task
