"""Which snapshots one task needs: for its environment, and for every verifier that has its own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from partition.environments.links import UnusablePathError, require_contained, resolve
from partition.environments.snapshot import (
    Generation,
    content_files,
    content_key,
    legacy_files,
    legacy_key,
)
from partition.errors import Fault, InputError
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from partition.tasks.model import (
        Entry,
        EnvironmentConfig,
        Spec,
        StepConfig,
        Task,
        TaskConfig,
        Tree,
        VerifierConfig,
    )

_DOCKERFILE = "Dockerfile"
_COMPOSE = "docker-compose.yaml"


class Unfoldable(StrEnum):
    """Why a container has no snapshot of its own, so that folding cannot save one."""

    WINDOWS = "windows"
    COMPOSE = "compose"
    PREBUILT = "prebuilt image"
    NO_DOCKERFILE = "no Dockerfile"


class Role(StrEnum):
    """Whom a container is for."""

    ENVIRONMENT = "environment"
    """The agent; the tests too, unless there is a separate verifier."""
    VERIFIER = "verifier"
    """The tests alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotUse:
    """One container of a task, and the snapshot that it starts from.

    Parameters
    ----------
    role
        Whom it is for.
    step
        Step of a multi-step task that it verifies.
    folder
        Path, in the task and without links, of the directory it is built from.
    key
        64 hexadecimal digits; None where no snapshot is built.
    reason
        Why none is built; None where one is.
    config
        Its resources, image and operating system.
    """

    role: Role
    step: str | None = None
    folder: str
    key: str | None
    reason: Unfoldable | None = None
    config: EnvironmentConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIdentity:
    """Every container of one task.

    Parameters
    ----------
    task
        Id of the task.
    environment
        The agent's container.
    verifiers
        One for each separate verifier, in the order of the steps.
    """

    task: str
    environment: SnapshotUse
    verifiers: tuple[SnapshotUse, ...] = ()

    @property
    def uses(self) -> tuple[SnapshotUse, ...]:
        """Every container, the agent's first."""
        return (self.environment, *self.verifiers)

    @property
    def unfoldable(self) -> Unfoldable | None:
        """Why the agent's environment cannot be folded; None where it can."""
        return self.environment.reason


def identify(task: Task, *, generation: Generation | str = Generation.CONTENT) -> TaskIdentity:
    """Return the snapshots that Harbor would build for `task`.

    Parameters
    ----------
    task
        A task directory, from anywhere.
    generation
        ``content`` follows Harbor 0.26, ``legacy`` Harbor 0.16.1, in keys and in the choice of a verifier's
        directory.

    Raises
    ------
    InputError
        Harbor could not load the task or hash one of its directories; the fault names the place.
    """
    if task.spec is not None:
        return TaskIdentity(task=task.id, environment=_rendered_alone(task, task.spec))
    containers = _Containers(task, Generation(generation))
    try:
        if containers.generation is Generation.CONTENT:
            _require_inputs_contained(task)
        environment = containers.use(Role.ENVIRONMENT, "environment", task.config.environment)
        steps: tuple[StepConfig | None, ...] = task.config.steps or (None,)
        verifiers = [_verifier(containers, step) for step in steps]
    except UnusablePathError as error:
        fault = Fault(where=f"{task.where}/{error.path}", what=error.what, hint=error.hint, task=task.id)
        raise InputError(str(fault), faults=[fault]) from error
    return TaskIdentity(
        task=task.id, environment=environment, verifiers=tuple(use for use in verifiers if use is not None)
    )


def _rendered_alone(task: Task, spec: Spec) -> SnapshotUse:
    """Return the environment that a row of a spec table would be, where equal specs are rendered equally."""
    needs = replace(spec, created_at=None, outcomes=())
    return SnapshotUse(
        role=Role.ENVIRONMENT,
        folder="environment",
        key=hashlib.sha256(repr(needs).encode()).hexdigest(),
        reason=None,
        config=task.config.environment,
    )


def keyed_files(task: Task, folder: str, generation: Generation) -> list[tuple[str, Entry]]:
    """Return the paths and files that the key of `folder` covers, in its order.

    Parameters
    ----------
    folder
        Path in the task, without links (`SnapshotUse.folder`).

    Raises
    ------
    UnusablePathError
        A link leaves the task (legacy key).
    """
    tree = _tree(task, folder)
    if generation is Generation.CONTENT:
        return content_files(tree)
    return legacy_files(tree, task=task.files, folder=folder)


def is_separate(config: TaskConfig, step: StepConfig | None) -> bool:
    """Return whether the verifier of `step`, or of a task without steps, has a container of its own.

    Notes
    -----
    ``harbor/models/task/verifier_mode.py``: what a step says, else what its environment implies, else the
    same of the task, else shared.
    """
    mode = (step and _mode(step.verifier)) or _mode(config.verifier)
    return mode == "separate"


def _mode(verifier: VerifierConfig) -> str | None:
    if verifier.environment_mode is None and verifier.environment is not None:
        return "separate"
    return verifier.environment_mode


class _Containers:
    """Works out what each directory of one task is built into, hashing a directory once."""

    def __init__(self, task: Task, generation: Generation) -> None:
        self.task = task
        self.generation = generation
        self._keys: dict[tuple[str, str | None], str] = {}

    def holds(self, folder: str, name: str) -> bool:
        """Return whether `name` in `folder` is a regular file, or a link to one."""
        entry = resolve(self.task.files, f"{folder}/{name}")
        return entry is not None and entry.kind is Kind.FILE

    def use(
        self, role: Role, folder: str, config: EnvironmentConfig, step: StepConfig | None = None
    ) -> SnapshotUse:
        reason = self._reason(folder, config)
        return SnapshotUse(
            role=role,
            step=step.name if step else None,
            folder=self._real(folder),
            key=None if reason else self._key(folder, config.docker_image),
            reason=reason,
            config=config,
        )

    def _reason(self, folder: str, config: EnvironmentConfig) -> Unfoldable | None:
        if config.os == "windows":
            return Unfoldable.WINDOWS
        if self.holds(folder, _COMPOSE):
            return Unfoldable.COMPOSE
        if self.holds(folder, _DOCKERFILE):
            return None
        return Unfoldable.PREBUILT if config.docker_image else Unfoldable.NO_DOCKERFILE

    def _real(self, folder: str) -> str:
        entry = resolve(self.task.files, folder)
        return folder if entry is None else entry.path

    def _key(self, folder: str, docker_image: str | None) -> str:
        real = self._real(folder)
        if (real, docker_image) not in self._keys:
            tree = _tree(self.task, real)
            try:
                self._keys[real, docker_image] = (
                    content_key(tree, docker_image=docker_image, directory_name=folder.rpartition("/")[2])
                    if self.generation is Generation.CONTENT
                    else legacy_key(tree, task=self.task.files, folder=real)
                )
            except UnusablePathError as error:
                raise error.at(f"{real}/{error.path}") from error
        return self._keys[real, docker_image]


def _tree(task: Task, folder: str) -> Tree:
    if folder == "environment":
        return task.environment
    return task.files.below(folder) if folder else task.files


def _verifier(containers: _Containers, step: StepConfig | None) -> SnapshotUse | None:
    """Return the separate verifier of `step`, or of a task without steps; None where it is shared."""
    config = containers.task.config
    if not is_separate(config, step):
        return None
    if containers.generation is Generation.CONTENT:
        return _content_verifier(containers, step)
    return _legacy_verifier(containers, step)


def _content_verifier(containers: _Containers, step: StepConfig | None) -> SnapshotUse:
    """Harbor 0.26: ``resolve_verifier_environment_definition`` in ``harbor/models/task/verifier_mode.py``."""
    task = containers.task
    environment = task.config.environment
    candidates = [(task.config.verifier.environment, "tests")]
    if step is not None:
        candidates.insert(0, (step.verifier.environment, _step_tests(step)))
    config = next((named for named, _ in candidates if named is not None), environment)
    for named, folder in candidates:
        image = named.docker_image if named else None
        if image:
            return containers.use(Role.VERIFIER, folder, replace(config, docker_image=image), step)
        if containers.holds(folder, _DOCKERFILE) or containers.holds(folder, _COMPOSE):
            require_contained(task.files, folder)
            return containers.use(Role.VERIFIER, folder, replace(config, docker_image=None), step)
    require_contained(task.files, "environment")
    # A verifier that says nothing about its system inherits the task's; Windows is only ever said.
    system = environment.os if config.os == "linux" else config.os
    return containers.use(
        Role.VERIFIER,
        "environment",
        replace(config, docker_image=environment.docker_image, os=system),
        step,
    )


def _legacy_verifier(containers: _Containers, step: StepConfig | None) -> SnapshotUse:
    """Harbor 0.16.1: ``Trial._verifier_env_build_context`` in ``harbor/trial/trial.py``."""
    task = containers.task
    config = (
        (step and step.verifier.environment) or task.config.verifier.environment or task.config.environment
    )
    folder = "tests"
    if step is not None and resolve(task.files, _step_tests(step)) is not None:
        folder = _step_tests(step)
    return containers.use(Role.VERIFIER, folder, config, step)


def _step_tests(step: StepConfig) -> str:
    if "/" in step.name or step.name in {"", ".", ".."}:
        raise UnusablePathError(
            "task.toml", f"step name {step.name!r} is not the name of one directory", hint="rename the step"
        )
    return f"steps/{step.name}/tests"


def _require_inputs_contained(task: Task) -> None:
    """Refuse what ``Task._validate_input_paths`` refuses when Harbor 0.26 loads a task.

    A task with a ``.harborignore`` may exclude such links, so only its build contexts are checked.
    """
    links = any(entry.kind is Kind.LINK for entry in task.files.entries)
    if not links or any(entry.path.endswith(".harborignore") for entry in task.files.entries):
        return
    for folder in (*(f"steps/{step.name}" for step in task.config.steps), "tests", "solution"):
        require_contained(task.files, folder)
