"""What stands already: snapshots of the organisation, and the environments of the previous plan."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from partition.environments.caps import read_existing
from partition.environments.render import render, snapshot_of
from partition.environments.shared import PackageSet, SetMember, SharedEnvironment
from partition.errors import InputError
from partition.plan.document import Environment, Plan, parse_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from partition.yields.table import ClassTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Snapshots that exist and a plan that was made before.

    Parameters
    ----------
    names
        Snapshot names that exist, sorted.
    known
        Existing environments whose content is known (they come from a plan).
    previous
        The previous plan, or None.
    """

    names: tuple[str, ...] = ()
    known: tuple[SharedEnvironment, ...] = ()
    previous: Plan | None = None
    existing_digest: str | None = None
    previous_digest: str | None = None

    def environments(self, candidates: Sequence[SharedEnvironment]) -> tuple[SharedEnvironment, ...]:
        """Return the environments that stand, as candidates beside the generated ones.

        A generated candidate whose snapshot exists under its name alone is offered again as existing.
        """
        existing = set(self.names)
        standing = {item.snapshot: item for item in self.known}
        for item in candidates if existing else ():
            dockerfile = render(item)
            snapshot = snapshot_of(dockerfile)
            if snapshot in existing and snapshot not in standing:
                standing[snapshot] = replace(
                    item,
                    name=f"{item.name}-existing",
                    origin="existing",
                    dockerfile=dockerfile,
                    snapshot=snapshot,
                )
        if self.previous is not None:
            for old in self.previous.environments:
                if old.snapshot not in standing:
                    exists = old.snapshot in existing
                    standing[old.snapshot] = _environment(old, exists=exists, origin="previous")
        taken = {item.name for item in candidates}
        unique = []
        for _, item in sorted(standing.items(), key=lambda pair: pair[0] or ""):
            name = item.name
            while name in taken:
                name = f"{name}-{item.origin}"
            taken.add(name)
            unique.append(replace(item, name=name))
        return tuple(unique)

    def previous_assignment(
        self, table: ClassTable, environments: Sequence[SharedEnvironment]
    ) -> NDArray[np.int64]:
        """Return for each class the environment that served most of its tasks, -1 for none; shape (n,)."""
        result = np.full(len(table.classes), -1, dtype=np.int64)
        if self.previous is None:
            return result
        dockerfiles = {item.dockerfile: index for index, item in enumerate(environments) if item.dockerfile}
        index = {
            item.name: dockerfiles[item.dockerfile]
            for item in self.previous.environments
            if item.dockerfile in dockerfiles
        }
        for row, task_class in enumerate(table.classes):
            served = Counter(
                index[assigned.environment]
                for task in task_class.tasks
                if (assigned := self.previous.assignment.get(task)) and assigned.environment in index
            )
            if served:
                result[row] = min(served, key=lambda item: (-served[item], item))
        return result


def read_standing(existing: Path | None, previous: Path | None) -> Standing:
    """Read the ``--existing`` file (a plan, or names as `read_existing` takes them) and a previous plan.

    Raises
    ------
    InputError
        A file is missing or is none of these.
    """
    names: tuple[str, ...] = ()
    known: tuple[SharedEnvironment, ...] = ()
    existing_digest = previous_digest = None
    old = None
    if existing is not None:
        data = _bytes(existing)
        existing_digest = hashlib.sha256(data).hexdigest()
        names, known = _existing(data, str(existing))
    if previous is not None:
        data = _bytes(previous)
        previous_digest = hashlib.sha256(data).hexdigest()
        old = parse_plan(_json(data, str(previous)), where=str(previous))
    return Standing(
        names=names,
        known=known,
        previous=old,
        existing_digest=existing_digest,
        previous_digest=previous_digest,
    )


def standing_of(plan: Plan, digest: str) -> Standing:
    """Return what stands when a plan is made again: its own environments, those that exist and the others.

    Parameters
    ----------
    digest
        SHA-256 of the plan's document.
    """
    exists = [item for item in plan.environments if item.exists]
    return Standing(
        names=tuple(sorted(item.snapshot for item in exists)),
        known=tuple(_environment(item, exists=True, origin="existing") for item in exists),
        previous=plan,
        existing_digest=plan.inputs.existing,
        previous_digest=digest,
    )


def _existing(data: bytes, where: str) -> tuple[tuple[str, ...], tuple[SharedEnvironment, ...]]:
    text = data.decode("utf-8", "replace")
    if '"schema_version"' in text and text.lstrip().startswith("{"):
        plan = parse_plan(_json(data, where), where=where)
        known = tuple(_environment(item, exists=True, origin="existing") for item in plan.environments)
        return tuple(sorted(item.snapshot for item in plan.environments)), known
    return tuple(sorted(read_existing(text, where=where))), ()


def _environment(item: Environment, *, exists: bool, origin: str) -> SharedEnvironment:
    members = tuple(
        sorted(
            SetMember(
                family=entry.family,
                version=entry.version,
                repo=entry.repo,
                commit=entry.commit,
                pip=tuple(entry.pip),
                conda=tuple(entry.conda),
                requirement_files=tuple(entry.requirement_files),
            )
            for venv in item.venvs
            for entry in venv.lists
        )
    )
    return SharedEnvironment(
        name=item.name,
        origin=origin,
        base=item.base,
        distribution=item.distribution,
        release=item.release,
        python=item.python,
        apt=tuple(item.apt),
        baked=PackageSet(name=item.venvs[0].name, members=members) if item.venvs else None,
        dockerfile=item.dockerfile,
        snapshot=item.snapshot if exists else None,
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint="check the path") from error


def _json(data: bytes, where: str) -> object:
    try:
        return json.loads(data)
    except ValueError as error:
        raise InputError(
            f"{where}: not JSON: {error}", hint="give a plan that `envfold propose` wrote"
        ) from error
