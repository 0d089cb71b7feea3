"""Task -> feature vector."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from partition.environments.bases import describe_image
from partition.environments.dockerfile import parse_dockerfile
from partition.environments.facts import EnvironmentFacts, read_facts
from partition.environments.identity import Unfoldable, identify
from partition.environments.instruction import DockerfileError
from partition.environments.links import resolve
from partition.environments.requirement import canonical_requirement
from partition.errors import Fault, InputError
from partition.features.model import TaskFeatures
from partition.tasks.model import Kind
from partition.tasks.text import decode

if TYPE_CHECKING:
    from partition.tasks.model import Spec, Task

_METADATA = {
    "repo": ("repo", "repository", "repo_name"),
    "version": ("version",),
    "commit": ("base_commit", "commit"),
    "created_at": ("created_at", "created", "date"),
}
"""Features, and the keys of ``[metadata]`` that hold them."""


def features_of(task: Task) -> TaskFeatures:
    """Return what `task` needs from its environment, with the line that each feature came from.

    Raises
    ------
    InputError
        The task cannot be read; carries every fault found. A Dockerfile that does not parse raises its
        subclass `DockerfileError`.
    """
    if task.spec is not None:
        return _of_spec(task, task.spec)
    return _of_directory(task)


def facts_of(task: Task) -> EnvironmentFacts | None:
    """Return the facts of a directory task's Dockerfile; None where it has none.

    Raises
    ------
    InputError
        The Dockerfile is not UTF-8 or cannot be read; a `DockerfileError` where it does not parse. Every
        fault names the task.
    """
    entry = resolve(task.files, "environment/Dockerfile")
    if entry is None or entry.kind is not Kind.FILE:
        return None
    where = f"{task.where}/environment/Dockerfile"
    try:
        text = decode(entry.read(), where=where, task=task.id)
        return read_facts(parse_dockerfile(text, where=where), task.environment)
    except DockerfileError as error:
        faults = [replace(fault, task=task.id) for fault in error.faults]
        raise DockerfileError(error.message, hint=error.hint, faults=faults) from error
    except OSError as error:
        fault = Fault(where=where, what=f"cannot be read: {error.strerror or error}", task=task.id)
        raise InputError(str(fault), faults=(fault,)) from error


def _of_directory(task: Task) -> TaskFeatures:
    config = task.config.environment
    common = TaskFeatures(
        task=task.id,
        network_mode=config.network_mode,
        resources=config.resources,
        **_metadata(task),
    )
    reason = identify(task).unfoldable
    facts = facts_of(task)
    if facts is None:
        image = config.docker_image
        base = describe_image(image) if image else None
        return replace(
            common,
            base=image,
            distribution=base.distribution if base else None,
            release=base.release if base else None,
            python=base.python if base else None,
            family=(common.repo or (base.repository if base else "")).lower(),
            refusal=_refusal(reason),
            sources=(("base", image, f"{task.where}/task.toml"),) if image else (),
        )
    clone = facts.repository
    repo = (clone and clone.repo) or common.repo
    return replace(
        common,
        base=facts.base.image,
        distribution=facts.base.distribution,
        release=facts.base.release,
        python=facts.python,
        apt=facts.apt,
        pip=facts.pip,
        conda=facts.conda,
        requirement_files=facts.requirement_files,
        other=facts.other,
        repo=repo,
        commit=(clone and clone.commit) or common.commit,
        family=(repo or facts.base.repository).lower(),
        copied=tuple(sorted((each.source, each.size) for each in facts.copied if each.content is None)),
        refusal=_refusal(reason),
        sources=tuple(sorted((*facts.sources, *common.sources))),
    )


def _metadata(task: Task) -> dict[str, Any]:
    """Return the features that task.toml's ``[metadata]`` gives under the names that datasets use."""
    metadata = dict(task.config.metadata)
    found: dict[str, Any] = {}
    for feature, names in _METADATA.items():
        value = next((metadata[name] for name in names if metadata.get(name)), None)
        if value is not None and (feature != "repo" or "/" in value):
            found[feature] = value
    place = f"{task.where}/task.toml"
    return {**found, "sources": tuple((name, value, place) for name, value in sorted(found.items()))}


def _refusal(reason: Unfoldable | None) -> str:
    return "" if reason is None else f"{reason.value}: keeps its own environment"


def _of_spec(task: Task, spec: Spec) -> TaskFeatures:
    if spec.python is not None:
        _check_python(task, spec.python)
    pip = tuple(sorted({canonical_requirement(each) for each in spec.pip}))
    lists = (
        ("apt", spec.apt),
        ("pip", pip),
        ("conda", spec.conda),
        ("requirement_files", spec.requirement_files),
    )
    single = (
        ("repo", spec.repo),
        ("version", spec.version),
        ("commit", spec.base_commit),
        ("python", spec.python),
    )
    values = [(name, value) for name, value in single if value]
    values += [(name, value) for name, many in lists for value in many]
    return TaskFeatures(
        task=task.id,
        python=spec.python,
        apt=tuple(sorted(set(spec.apt))),
        pip=pip,
        conda=tuple(sorted(set(spec.conda))),
        requirement_files=tuple(sorted(set(spec.requirement_files))),
        repo=spec.repo,
        version=spec.version,
        commit=spec.base_commit,
        family=spec.repo.lower(),
        network_mode=task.config.environment.network_mode,
        resources=task.config.environment.resources,
        created_at=spec.created_at,
        outcomes=tuple(sorted(spec.outcomes)),
        sources=tuple((name, value, task.where) for name, value in sorted(values)),
    )


def _check_python(task: Task, python: str) -> None:
    try:
        Version(python)
    except InvalidVersion as error:
        fault = Fault(
            where=task.where,
            what=f"{python!r} is not a Python version",
            hint="write it as 3.11",
            task=task.id,
        )
        raise InputError(str(fault), faults=(fault,)) from error
