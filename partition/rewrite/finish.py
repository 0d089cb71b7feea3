"""The end of a rewrite: put the parts together, check the whole, write its documents, put it in place."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from partition.environments.snapshot import content_key, legacy_key, snapshot_name
from partition.errors import InputError
from partition.plan.document import dump
from partition.rewrite.manifest import (
    Source,
    Summary,
    WrittenEnvironment,
    manifest_lines,
)
from partition.rewrite.output.publishing import is_same, publish_files, publish_folder
from partition.rewrite.output.repository import create, upload
from partition.rewrite.output.rows import check_others, check_rows, join_rows, rows_kept
from partition.rewrite.output.target import Form
from partition.rewrite.output.writers import FoldersWriter, RowsWriter
from partition.rewrite.resources import NAMES
from partition.tasks.directory import find_tasks
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from partition.plan.document import Plan
    from partition.plan.limits import Limits
    from partition.rewrite.attempt import Attempt
    from partition.rewrite.folding import Shared
    from partition.rewrite.output.target import Target
    from partition.rewrite.partial import Partial, State
    from partition.rewrite.progress import Progress
    from partition.tasks.parquet import OtherColumns

_ROWS = "tasks.parquet"
_MANIFEST = "manifest.json"
_PLAN = "plan.json"


def finish(
    attempt: Attempt,
    state: State,
    partial: Partial,
    *,
    target: Target,
    given: Plan,
    limits: Limits,
    changes: list[str],
    progress: Progress,
) -> Summary:
    """Check the whole output, describe it, and put it in place.

    Parameters
    ----------
    given
        The plan that the user gave; `attempt` has the one in use.
    changes
        In what they differ.

    Raises
    ------
    InputError
        What was written does not read back, or something is in the way.
    """
    summary = _summary(attempt, state, target=target, given=given, limits=limits, changes=changes)
    folder = partial.folder
    if isinstance(attempt.writer, FoldersWriter):
        dataset = attempt.writer.root
        _check_folders(dataset, (record.task for record in attempt.tasks()))
        documents = dataset
    else:
        assert isinstance(attempt.writer, RowsWriter)  # noqa: S101 - there are two
        with progress("putting rows together", None):
            _join(attempt, attempt.writer, folder / _ROWS)
        documents = folder
    write_atomically(documents / _PLAN, dump(attempt.plan))
    _write_manifest(documents / _MANIFEST, summary, attempt)
    if target.form is Form.HUB:
        _upload(target, partial, state, progress)
    else:
        partial.save(state.model_copy(update={"publishing": True}))
        if target.form is Form.DIRECTORY:
            publish_folder(documents, target.path)
        else:
            places = {folder / name: target.beside(name) for name in (_PLAN, _MANIFEST)}
            publish_files({**places, folder / _ROWS: target.path})
    partial.remove()
    return summary


def _join(attempt: Attempt, writer: RowsWriter, file: Path) -> None:
    """Put the rows together, with the source's other columns, and read the file back."""
    parts = (writer.part(number) for number in range(attempt.chunks))
    others = attempt.dataset.other_columns()
    if others is None:
        join_rows(file, parts)
    else:
        join_rows(file, parts, _kept(attempt, others), others.schema)
        check_others(file, _kept(attempt, others), others.schema)
    check_rows(file, attempt.digests())


def _kept(attempt: Attempt, others: OtherColumns) -> Iterator[Any]:
    return rows_kept(others.batches(), attempt.kept(), others.schema)


def already_finished(target: Target, partial: Partial, state: State) -> bool:
    """Return whether an earlier run was interrupted after it had put everything in place."""
    if not state.publishing or not os.path.lexists(target.path):
        return False
    if target.form is Form.DIRECTORY:
        return not FoldersWriter(partial.folder).root.exists()
    return is_same(partial.folder / _ROWS, target.path)


def _summary(
    attempt: Attempt, state: State, *, target: Target, given: Plan, limits: Limits, changes: list[str]
) -> Summary:
    tally = attempt.tally
    dataset = attempt.dataset
    return Summary(
        envfold_version=version("envfold"),
        output=target.out,
        channel=attempt.channel,
        source=Source(
            dataset=dataset.source,
            kind=str(dataset.kind),
            revision=dataset.revision,
            tasks=tally.tasks,
            digest=given.inputs.digest,
            plan=state.header.plan,
            faults=[str(fault) for fault in attempt.faults],
        ),
        cap=limits.max_new,
        preset=limits.preset,
        before=tally.before.counts(),
        after=tally.after.counts(),
        tasks_written=tally.tasks,
        folded=tally.folded.total(),
        refused=tally.refused,
        resolved_again=state.resolved,
        changes_of_plan=changes,
        notes=_notes(attempt),
        environments=[
            _environment(each, tally.folded[name])
            for name, each in sorted(attempt.shared.items())
            if tally.folded[name]
        ],
    )


def _environment(shared: Shared, tasks: int) -> WrittenEnvironment:
    resources = None
    if shared.resources is not None:
        resources = dict(zip(NAMES, shared.resources, strict=True))
    sizes = {entry.path.removeprefix("payload/"): entry.size for entry in shared.tree.files()}
    return WrittenEnvironment(
        name=shared.planned.name,
        planned_snapshot=shared.planned.snapshot,
        snapshot=snapshot_name(content_key(shared.tree)),
        legacy_snapshot=snapshot_name(legacy_key(shared.tree)),
        tasks=tasks,
        baked_steps=len(shared.image.beginning),
        payload_bytes=sum(sizes[digest] for digest in shared.payloads),
        resources=resources,
    )


def _notes(attempt: Attempt) -> list[str]:
    notes = []
    for name, each in sorted(attempt.shared.items()):
        if each.resources is not None and attempt.tally.folded[name]:
            most = ", ".join(
                f"{resource} = {value:g}"
                for resource, value in zip(NAMES, each.resources, strict=True)
                if value is not None
            )
            notes.append(f"{name}: tasks asked for different resources; all now ask for the most ({most})")
    others = attempt.dataset.other_columns() if isinstance(attempt.writer, FoldersWriter) else None
    if others is not None:
        names = ", ".join(others.schema.names)
        notes.append(f"a directory has no place for the source's other columns, which are left out: {names}")
    return notes


def _check_folders(root: Path, tasks: Iterable[str]) -> None:
    """Raise unless a reader of the directory finds these tasks and no other."""
    found = [os.fsdecode(each.path) for each in find_tasks(root)]
    expected = sorted(tasks)
    if sorted(found) != expected:
        lost = sorted({*expected} - {*found})
        raise InputError(
            f"{len(lost)} tasks would not be found in a directory, {lost[0] if lost else found[0]!r} for one",
            hint="a task's directory cannot lie below another's or in .git: rename it, or write parquet",
        )


def _write_manifest(path: Path, summary: Summary, attempt: Attempt) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as stream:
        for piece in manifest_lines(summary, attempt.tasks()):
            stream.write(piece)


def _upload(target: Target, partial: Partial, state: State, progress: Progress) -> None:
    assert target.repository is not None  # noqa: S101 - it is a repository
    assert target.private is not None  # noqa: S101 - the user was asked
    if not state.repository:
        partial.save(state.model_copy(update={"repository": True}))
        create(target.out, target.repository, private=target.private, endpoint=target.endpoint)
    files = {name: partial.folder / name for name in (_ROWS, _MANIFEST, _PLAN)}
    with progress("uploading", None):
        upload(target.out, target.repository, files, endpoint=target.endpoint)
