"""The set-up of every task of a dataset as `envfold rewrite` would write it, without writing a dataset."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from partition.errors import CapExceededError, Fault, InputError
from partition.plan.document import dump
from partition.rewrite.attempt import begin
from partition.rewrite.folding import read_again
from partition.rewrite.manifest import Channel, Reason, TaskRecord
from partition.rewrite.output.target import Form, Target
from partition.rewrite.partial import Header, State, open_partial, sha256
from partition.rewrite.pool import Pool
from partition.rewrite.progress import silent
from partition.rewrite.refusal import Refused
from partition.rewrite.rewrite import Options, limits_of
from partition.rewrite.survey import keys_of
from partition.rewrite.tally import Tally
from partition.tasks.assembly import CONFIG, assemble
from partition.tasks.dataset import SourceKind, open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.plan.document import Plan
    from partition.rewrite.attempt import Attempt
    from partition.rewrite.progress import Progress
    from partition.rewrite.survey import Surveyed
    from partition.tasks.model import Task, Tree

_CHANNEL: Channel = "healthcheck"
"""The channel that refuses fewest tasks: set-up is given out as a script, whatever brings it there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a task's container and agent are started with, beside what the image says.

    Parameters
    ----------
    workdir
        Folder that commands start in; None for the image's.
    env
        Variables.
    user
        Whom the agent runs as; None for root.
    """

    workdir: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    user: str | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """What one folded task needs, wherever it is rendered."""

    environment: str
    script: str
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUps:
    """Every task of a dataset in the environments of a plan.

    Parameters
    ----------
    tasks
        The folded ones.
    trees
        ``environment/`` of each shared environment.
    refused
        Why the other tasks keep their own, first reason first.
    faults
        Tasks that cannot be read.
    """

    tasks: dict[str, SetUp] = field(default_factory=dict)
    trees: dict[str, Tree] = field(default_factory=dict)
    refused: dict[str, tuple[str, ...]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


def set_ups_of(
    plan: Plan, source: str, *, endpoint: str | None = None, progress: Progress = silent
) -> SetUps:
    """Return what `envfold rewrite` would make of each task; every script is in memory.

    Parameters
    ----------
    source
        The dataset that the plan was made from: task directories, or parquet files of them.

    Raises
    ------
    InputError
        The dataset has no task directories, or is not the plan's.
    CapExceededError
        With the tasks that cannot be folded the plan exceeds its caps.
    """
    dataset = open_dataset(source, endpoint=endpoint)
    if dataset.kind in {SourceKind.SPEC_TABLE, SourceKind.EMBEDDED}:
        raise InputError(
            f"{source} is a spec table: it holds no more than the plan does", hint="leave the dataset out"
        )
    header = Header(
        envfold_version=version("envfold"),
        output=Form.PARQUET.value,
        plan=sha256(dump(plan)),
        dataset=plan.inputs.digest,
        channel=_CHANNEL,
        caps="",
    )
    with (
        tempfile.TemporaryDirectory(prefix="envfold-") as name,
        open_partial(Path(name) / "partial") as partial,
        tempfile.TemporaryFile(dir=name) as spool,
        Pool(1) as pool,
    ):
        attempt = begin(
            plan,
            State(header=header),
            dataset,
            partial,
            pool,
            spool=spool,
            target=Target(out=name, form=Form.PARQUET, path=Path(name) / "tasks.parquet"),
            channel=_CHANNEL,
            progress=progress,
        )
        return _collected(plan, attempt)


def _collected(plan: Plan, attempt: Attempt) -> SetUps:
    job = attempt.job
    tally = Tally()
    tasks: dict[str, SetUp] = {}
    refused: dict[str, tuple[str, ...]] = {}
    for part in attempt.parts():
        for piece, surveyed in zip(part.pieces, part.tasks, strict=True):
            if surveyed is None:
                continue
            task = read_again(piece, surveyed)
            made = job.folded(task, surveyed)
            if isinstance(made, Refused):
                refused[task.id] = tuple(map(str, made.reasons))
                tally.add(_record(surveyed, None, task, made.reasons))
                continue
            (written,) = assemble(task.id, task.where, made.delivered.files)
            assert not isinstance(written, Fault)  # noqa: S101 - a rewrite keeps a task one
            environment = attempt.assignment[task.id]
            tasks[task.id] = SetUp(
                environment=environment, script=made.setup.script, settings=_settings(written)
            )
            tally.add(_record(surveyed, environment, written, ()))
    excess = tally.excess(limits_of(plan, Options()), attempt.existing)
    if excess:
        hint = "`envfold rewrite` solves the plan again for what they leave of the cap, and writes that plan"
        raise CapExceededError(tally.cap_exceeded(excess).message, hint=hint)
    trees = {name: each.tree for name, each in attempt.shared.items() if tally.folded[name]}
    return SetUps(tasks=tasks, trees=trees, refused=refused, faults=attempt.faults)


def _record(
    surveyed: Surveyed, environment: str | None, written: Task, reasons: Iterable[Fault]
) -> TaskRecord:
    return TaskRecord(
        task=surveyed.id,
        environment=environment,
        channel=_CHANNEL if environment else None,
        old=surveyed.keys,
        new=keys_of(written)[0],
        refused=[Reason(where=each.where, what=each.what, hint=each.hint) for each in reasons],
        notes=[],
    )


def _settings(written: Task) -> Settings:
    """Return what a rewritten task's task.toml says of the container, its healthcheck apart."""
    document = tomllib.loads(written.files.by_path[CONFIG].read().decode().replace("\r\n", "\n"))
    environment = written.config.environment
    return Settings(
        workdir=environment.workdir,
        env=dict(environment.env),
        user=document.get("agent", {}).get("user"),
    )
