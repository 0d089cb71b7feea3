"""Releases of a task's own repository that a shared image bakes for other tasks: they may hold the answer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from partition.errors import Fault
from partition.features.extract import features_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.features.model import TaskFeatures
    from partition.plan.document import Environment
    from partition.tasks.model import Task

_PREFIX = re.compile(r"\Apython3?-")
_SEPARATORS = "[-_.]+"
_HINT = "the task keeps its own environment: it must not find a later state of the code that it is about"


def own_releases(task: Task, environment: Environment, where: str) -> Iterator[Fault]:
    """Yield a fault for each baked package that is the task's own project, and may be a later release of it.

    A release that is no later than the task's own, and what the task's Dockerfile installs itself in the
    same words, is nothing that others hand to it.

    Parameters
    ----------
    where
        The task's Dockerfile.
    """
    held = tuple(_held(environment))
    if not held or not _may_be_about(task, held):
        return
    features = features_of(task)
    if not features.repo:
        return
    own = canonicalize_name(features.repo.rpartition("/")[2])
    installed = {*features.apt, *features.pip, *features.conda}
    for requirement, place in held:
        name, release = _parsed(requirement)
        if name != own or requirement in installed:
            continue
        if release is None or _is_later(release, features):
            yield Fault(
                where=where,
                what=f"is about {features.repo}, and {place} of {environment.name} holds {requirement}",
                hint=_HINT,
                task=task.id,
            )


def _held(environment: Environment) -> Iterator[tuple[str, str]]:
    """Yield each package that the environment names, and where it is."""
    for package in environment.apt:
        yield package, "the image"
    for venv in environment.venvs:
        for requirement in sorted({each for one in venv.lists for each in (*one.pip, *one.conda)}):
            yield requirement, f"the package set {venv.name}"


def _may_be_about(task: Task, held: tuple[tuple[str, str], ...]) -> bool:
    """Return whether the task's text can name one of the packages as a repository: reading it all is slow."""
    pattern = _mentions(tuple(requirement for requirement, _ in held))
    entries = (task.files.get(path) for path in ("environment/Dockerfile", "task.toml"))
    texts = (entry.read().decode("utf-8", "replace").lower() for entry in entries if entry is not None)
    return any(pattern.search(text) for text in texts)


@lru_cache(maxsize=64)
def _mentions(requirements: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds the name of a repository, or a variable in the place of one."""
    parts = (map(re.escape, _parsed(each)[0].split("-")) for each in requirements)
    names = sorted({_SEPARATORS.join(each) for each in parts})
    return re.compile(rf"[/=\"'](?:{'|'.join(names)})(?![a-z0-9])|/\$")


def _parsed(requirement: str) -> tuple[str, Version | None]:
    """Return a package's name, and its release where that is exact."""
    try:
        # conda writes one equals sign, and apt too
        read = Requirement(re.sub(r"(?<![=<>!~])=(?!=)", "==", requirement))
    except InvalidRequirement:
        return canonicalize_name(_PREFIX.sub("", re.split(r"[^\w.+-]", requirement, maxsplit=1)[0])), None
    exact = [each.version for each in read.specifier if each.operator in {"==", "==="}]
    return canonicalize_name(_PREFIX.sub("", read.name)), _version(exact[0]) if exact else None


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _is_later(release: Version, features: TaskFeatures) -> bool:
    """Return whether a release may be later than the task's start; it may where the start is not known."""
    start = _version(features.version)
    return start is None or release > start
