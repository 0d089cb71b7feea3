"""A plan for people who render tasks themselves: set-up as shell, and one module without dependencies."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from partition.errors import Fault, InputError
from partition.plan.document import Plan, load_plan
from partition.rewrite.exported_module import MODULE
from partition.rewrite.planned import FOLDER, UnusableImageError, planned_setup
from partition.rewrite.progress import silent
from partition.rewrite.set_ups import Settings, SetUps, set_ups_of

if TYPE_CHECKING:
    from pathlib import Path

    from partition.rewrite.progress import Progress
    from partition.rewrite.set_ups import SetUp

_DOCKERFILE = "Dockerfile"
_PLACE = re.compile("@([A-Z_]+)@")


class PlanWithSetup(Plan):
    """A plan that also answers what its tasks do at run time, from the dataset where that was given."""

    _set_ups: SetUps | None = PrivateAttr(default=None)
    _planned: dict[str, str | InputError] = PrivateAttr(default_factory=dict)

    @property
    def not_folded(self) -> dict[str, str]:
        """Return each task that has no place in the shared environments, and why."""
        reasons = {each.task: each.reason for each in self.refused}
        if self._set_ups is not None:
            return {task: found[0] for task, found in self._set_ups.refused.items()} | reasons
        planned = {task: self._plan_of(task) for task in self.assignment}
        return {
            task: made.message for task, made in planned.items() if isinstance(made, UnusableImageError)
        } | reasons

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return why tasks of the dataset cannot be read."""
        return self._set_ups.faults if self._set_ups is not None else ()

    def dockerfile_for(self, task_id: str) -> str:
        """Return the Dockerfile of a task's shared environment, with what the dataset has it bake."""
        self._made(task_id)
        return self.files_of(self.assigned(task_id).environment)[_DOCKERFILE][1].decode()

    def files_for(self, task_id: str) -> dict[str, tuple[int, bytes]]:
        """Return what lies beside the Dockerfile of a task's environment: (mode, bytes) by path."""
        self._made(task_id)
        files = self.files_of(self.assigned(task_id).environment)
        return {path: file for path, file in files.items() if path != _DOCKERFILE}

    def settings_for(self, task_id: str) -> Settings:
        """Return the folder, variables and user that a task's container and agent are started with."""
        made = self._made(task_id)
        if made is not None:
            return made.settings
        clones = any(step["step"] == "clone" for step in self.assigned(task_id).setup)
        return Settings(workdir=FOLDER if clones else None)

    def setup_for(self, task_id: str) -> str:
        """Return what a task does at run time before the agent starts, as a POSIX shell script.

        Raises
        ------
        InputError
            The task is not folded, or its set-up needs the dataset.
        """
        made = self._made(task_id)
        script = self._plan_of(task_id) if made is None else made.script
        if isinstance(script, InputError):
            raise script
        return script

    def files_of(self, environment: str) -> dict[str, tuple[int, bytes]]:
        """Return the directory of one environment: (mode, bytes) by path."""
        if self._set_ups is not None and environment in self._set_ups.trees:
            files = self._set_ups.trees[environment].files()
            return {each.path: (each.mode, each.read()) for each in files}
        (text,) = (each.dockerfile for each in self.environments if each.name == environment)
        return {_DOCKERFILE: (0o644, text.encode())}

    def _plan_of(self, task_id: str) -> str | InputError:
        if task_id not in self._planned:
            try:
                self._planned[task_id] = planned_setup(self, task_id)
            except InputError as error:
                self._planned[task_id] = error
        return self._planned[task_id]

    def _made(self, task_id: str) -> SetUp | None:
        self.assigned(task_id)
        if self._set_ups is None:
            return None
        if task_id not in self._set_ups.tasks:
            reasons = "; ".join(self._set_ups.refused[task_id])
            raise InputError(f"{task_id} is not folded: {reasons}", hint="it keeps its own environment")
        return self._set_ups.tasks[task_id]


def with_set_ups(plan: Plan, dataset: str | None = None, *, progress: Progress = silent) -> PlanWithSetup:
    """Return the plan with the set-up of its tasks; see `read_plan`."""
    answering = PlanWithSetup.model_construct(**dict(plan))
    if dataset is not None:
        answering._set_ups = set_ups_of(plan, dataset, progress=progress)  # noqa: SLF001 - a field of its own
    return answering


def read_plan(path: str | Path, *, dataset: str | None = None) -> PlanWithSetup:
    """Read a Plan document.

    Parameters
    ----------
    dataset
        What the plan was made from. Needed for the set-up of tasks that have a Dockerfile: it is then made as
        by ``envfold rewrite``, all of it at once and in memory. Left out for a spec table.

    Raises
    ------
    InputError
        The file is no plan, or the dataset is not the plan's.
    CapExceededError
        With the tasks of the dataset that cannot be folded the plan exceeds its caps.
    """
    return with_set_ups(load_plan(path), dataset)


def get_specs_module(plan: PlanWithSetup) -> bytes:
    """Return a Python module (3.8 or later) with the plan's map from (repo, version); same plan, same bytes.

    Raises
    ------
    InputError
        The set-up of some tasks cannot be written without the dataset, or at all.
    """
    not_folded = plan.not_folded
    tasks: dict[str, tuple[str, int, int]] = {}
    setups: dict[str, int] = {}
    settings: dict[str, tuple[int, dict[str, Any]]] = {}
    errors: list[InputError] = []
    for task, entry in sorted(plan.assignment.items()):
        if task in not_folded:
            continue
        try:
            script = plan.setup_for(task)
        except InputError as error:
            errors.append(error)
            continue
        started = asdict(plan.settings_for(task))
        index, _ = settings.setdefault(repr(started), (len(settings), started))
        tasks[task] = (entry.environment, setups.setdefault(script, len(setups)), index)
    if errors:
        first = errors[0]
        faults = [
            each for error in errors for each in error.faults or (Fault(where="plan", what=error.message),)
        ]
        what = f"the set-up of {len(errors):,} task{'s' * (len(errors) > 1)} cannot be written"
        raise InputError(what, hint=first.hint, faults=faults)
    common = posixpath.commonprefix(list(setups))
    values = {
        "ENVIRONMENTS": _literal({each.name: _environment(plan, each.name) for each in plan.environments}),
        "COMMON": ascii(common),
        "SETUPS": _literal([script[len(common) :] for script in setups]),
        "SETTINGS": _literal([each for _, each in settings.values()]),
        "TASKS": _literal(tasks),
        "SPECS": _literal(_specs(plan)),
        "NOT_FOLDED": _literal(dict(sorted(not_folded.items()))),
    }
    return _PLACE.sub(lambda match: values[match[1]], MODULE).encode()


def _environment(plan: PlanWithSetup, name: str) -> dict[str, Any]:
    (found,) = (each for each in plan.environments if each.name == name)
    files = plan.files_of(name)
    _, dockerfile = files.pop(_DOCKERFILE)
    return {
        "environment": name,
        "python": found.python,
        "apt": sorted(found.apt),
        "dockerfile": dockerfile.decode(),
        "files": files,
    }


def _specs(plan: PlanWithSetup) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the tasks of each (repository in lower case, version)."""
    pairs: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    known = [(task, entry.repo, entry.version) for task, entry in plan.assignment.items()]
    for task, repo, version in (*known, *((each.task, each.repo, each.version) for each in plan.refused)):
        if repo is not None:
            pairs[repo.lower(), version or ""].append(task)
    return {pair: tuple(sorted(tasks)) for pair, tasks in sorted(pairs.items())}


def _literal(value: dict[Any, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        return "{\n" + "".join(f"    {key!a}: {each!a},\n" for key, each in value.items()) + "}"
    return "[\n" + "".join(f"    {each!a},\n" for each in value) + "]"
