"""From a plan and a dataset to a new dataset whose tasks share the plan's environments.

Two passes over the dataset, in memory that does not grow with its files: the first finds what the tasks of
each environment have in common, the second writes each task, reads it back and compares it with its source.
What the second learns (refusals, set-ups for an image to hold) may change the images: both are then repeated.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, get_args

from partition.environments.caps import PRESETS
from partition.errors import CapExceededError, EnvfoldError, Fault, InputError, UsageError
from partition.plan.document import dump, load_plan
from partition.plan.limits import limits_for
from partition.rewrite.attempt import begin
from partition.rewrite.finish import already_finished, finish
from partition.rewrite.manifest import Channel, Summary, load_manifest
from partition.rewrite.output.target import Form, require_nothing_there, target_of
from partition.rewrite.partial import Header, State, open_partial, sha256
from partition.rewrite.pool import Pool, WorkerDiedError
from partition.rewrite.progress import Progress, silent
from partition.rewrite.resolve import changes, resolve
from partition.rewrite.tally import Tally
from partition.tasks.dataset import SourceKind, open_dataset
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partition.plan.document import Plan
    from partition.plan.limits import Limits
    from partition.rewrite.attempt import Attempt
    from partition.rewrite.output.target import Target
    from partition.rewrite.partial import Partial
    from partition.rewrite.tally import Refusals
    from partition.tasks.dataset import Dataset

CHANNELS: tuple[Channel, ...] = get_args(Channel)
_FEW = 100
"""Tasks that one process has rewritten before others have started."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to rewrite.

    Parameters
    ----------
    channel
        How set-up gets into a container.
    max_environments, preset
        Caps; by default those that the plan was made for.
    private
        Whether a new repository on the Hub is private.
    strict
        Whether one task at fault is an error.
    workers
        Processes; by default one for each processor.
    endpoint
        Address of the Hub; by default ``HF_ENDPOINT``.
    progress, say
        Told how far it is, and what the user should know meanwhile.
    """

    channel: Channel = "healthcheck"
    max_environments: int | None = None
    preset: str | None = None
    private: bool | None = None
    strict: bool = False
    workers: int | None = None
    endpoint: str | None = None
    progress: Progress = silent
    say: Callable[[str], None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What was written.

    Parameters
    ----------
    summary
        The manifest without its tasks.
    manifest
        Where the whole manifest is: a path, or a place on the Hub.
    refusals
        Tasks that are not folded, by reason.
    faults
        Tasks of the source that cannot be read, and are left out.
    """

    summary: Summary
    manifest: str
    refusals: tuple[Refusals, ...]
    faults: tuple[Fault, ...] = ()


def rewrite(plan: Plan, source: str, out: str, options: Options | None = None) -> Rewritten:
    """Write the dataset `source` to `out` with the environments of `plan`.

    Parameters
    ----------
    plan
        Made from this very dataset.
    source
        Anything with task directories that ``envfold count`` takes.
    out
        A directory, a ``.parquet`` file or ``hf://datasets/ORG/NAME``; nothing may be there yet.

    Raises
    ------
    UsageError
        An option that cannot mean anything.
    InputError
        Something is in the way, the plan is of another dataset, the disk is full, or what was written does
        not read back as it should. What was written so far stays in ``OUT.partial`` for the next run.
    CapExceededError
        The caps cannot hold, whatever is folded. Nothing was put in place.
    """
    options = options or Options()
    if options.channel not in CHANNELS:
        raise UsageError(f"no channel is called {options.channel!r}", hint=f"there are {', '.join(CHANNELS)}")
    target = target_of(out, private=options.private, endpoint=options.endpoint)
    limits = limits_of(plan, options)
    dataset = open_dataset(source, endpoint=options.endpoint)
    if dataset.kind in {SourceKind.SPEC_TABLE, SourceKind.EMBEDDED}:
        raise InputError(
            f"{source} is a spec table: there are no task directories to rewrite",
            hint="rewrite the dataset that was rendered from it",
        )
    # columns that do not fit together are told before any work
    dataset.other_columns()
    header = Header(
        envfold_version=version("envfold"),
        output=target.form.value,
        plan=sha256(dump(plan)),
        dataset=plan.inputs.digest,
        channel=options.channel,
        caps=json.dumps([limits.max_environments, limits.preset]),
    )
    resumes = target.partial.is_dir()
    if not resumes:
        require_nothing_there(target, source)
    with _explained(target), open_partial(target.partial) as partial:
        state = partial.state(header)
        if already_finished(target, partial, state):
            tally = Tally()
            manifest = load_manifest(target.beside("manifest.json"))
            for record in manifest.tasks:
                tally.add(record)
            partial.remove()
            return _rewritten(manifest, target, tally)
        if not state.repository:
            require_nothing_there(target, source)
        if state.refused or state.payloads or (partial.folder / "records").is_dir():
            options.say(f"going on with what is in {partial.folder}")
        few = dataset.size is not None and dataset.size <= _FEW
        workers = options.workers or (1 if few else len(os.sched_getaffinity(0)))
        with (
            _tidied(partial),
            Pool(workers, keep=(partial.lock,)) as pool,
            tempfile.TemporaryFile(dir=partial.folder) as spool,
        ):
            run = _Run(
                plan=plan,
                dataset=dataset,
                target=target,
                limits=limits,
                options=options,
                partial=partial,
                pool=pool,
                spool=spool,
            )
            return run.through(state)


@contextmanager
def _tidied(partial: Partial) -> Iterator[None]:
    """Remove the unfinished output where no later run could go on with it."""
    try:
        yield
    except CapExceededError:
        partial.remove()
        raise
    except EnvfoldError:
        if not (partial.folder / "records").is_dir():
            partial.remove()
        raise


@dataclass(frozen=True, kw_only=True)
class _Run:
    """One run, with what does not change while it goes."""

    plan: Plan
    dataset: Dataset
    target: Target
    limits: Limits
    options: Options
    partial: Partial
    pool: Pool
    spool: IO[bytes]

    def through(self, state: State) -> Rewritten:
        """Attempt until nothing new is learned and the caps hold; then finish."""
        plan = self._plan_of(state)
        before: Attempt | None = None
        while True:
            attempt = begin(
                plan,
                state,
                self.dataset,
                self.partial,
                self.pool,
                spool=self.spool,
                target=self.target,
                channel=self.options.channel,
                progress=self.options.progress,
            )
            if self.options.strict and attempt.faults:
                raise InputError(f"{self.dataset.source}: tasks are at fault", faults=attempt.faults)
            if before is not None and before.key == attempt.key:
                attempt = before
            else:
                attempt.write(self.options.progress)
            known = (state.refused, state.payloads)
            state = attempt.learned(state)
            if (state.refused, state.payloads) != known:
                self.partial.save(state)
                before = attempt
                continue
            excess = attempt.tally.excess(self.limits, attempt.existing)
            if not excess:
                break
            plan = self._resolve(plan, attempt, excess)
            data = dump(plan)
            write_atomically(self.partial.folder / "plan.json", data)
            state = state.model_copy(update={"plan": sha256(data), "resolved": state.resolved + 1})
            self.partial.save(state)
            before = None
        summary = finish(
            attempt,
            state,
            self.partial,
            target=self.target,
            given=self.plan,
            limits=self.limits,
            changes=changes(self.plan, plan),
            progress=self.options.progress,
        )
        return _rewritten(summary, self.target, attempt.tally, attempt.faults)

    def _plan_of(self, state: State) -> Plan:
        """Return the plan in use: the one given, or the one that an interrupted run had made of it."""
        if state.plan is None:
            return self.plan
        path = self.partial.folder / "plan.json"
        plan = load_plan(path)
        if sha256(dump(plan)) != state.plan:
            raise InputError(f"{path} was changed", hint=f"remove {self.partial.folder} to start anew")
        return plan

    def _resolve(self, plan: Plan, attempt: Attempt, excess: str) -> Plan:
        refused = {each.task: each.reason for each in self.plan.refused}
        refused |= {
            record.task: f"not folded: {record.refused[0].what}"
            for record in attempt.tasks()
            if record.refused and record.task not in refused
        }
        self.options.say(
            f"{excess}: solving the plan again without {len(refused):,} tasks that keep their own"
        )
        with self.options.progress("choosing environments", None):
            return resolve(
                plan,
                sha256(dump(plan)),
                self.dataset,
                refused,
                tally=attempt.tally,
                limits=self.limits,
                excess=excess,
            )


def _rewritten(summary: Summary, target: Target, tally: Tally, faults: tuple[Fault, ...] = ()) -> Rewritten:
    place = f"{target.out}/manifest.json" if target.form is Form.HUB else str(target.beside("manifest.json"))
    return Rewritten(
        summary=Summary.model_validate(summary.model_dump()),
        manifest=place,
        refusals=tally.refusals,
        faults=faults,
    )


def limits_of(plan: Plan, options: Options) -> Limits:
    """Return the caps that hold: those asked for, else those that the plan was made for."""
    name = options.preset or plan.limits.preset
    asked = options.max_environments
    if asked is None and options.preset is None:
        asked = plan.limits.max_environments
    return limits_for(
        asked, preset=PRESETS[name] if name else None, existing=plan.limits.existing, seed=plan.seed
    )


@contextmanager
def _explained(target: Target) -> Iterator[None]:
    """Say what is in the way, and that what was written is not lost."""
    again = f"run the same command again to go on, or remove {target.partial}"
    try:
        yield
    except WorkerDiedError as error:
        raise InputError(f"{error}: memory may have run out", hint=again) from error
    except OSError as error:
        raise InputError(
            f"{error.filename or target.partial}: not written: {error.strerror or error}",
            hint=f"free some space; {again}",
        ) from error
